/** `correctables/bindings/redblue`: a client's access to a RedBlue service. */
export { redblue, REDBLUE_LEVELS, type RedBlueLevels } from './redblue.ts';
export type { RemoteBinding } from '../../transport/connection-binding.ts';
export { byContract, type Handlers } from '../../protocol/contract/by-contract.ts';
export { parseArgs, type Catalogue, type CatalogueEntry } from '../../protocol/contract/catalogue.ts';
export {
  exponentialBackoff,
  neverReconnect,
  type BackoffOptions,
  type Backoff as ReconnectPolicy,
} from '../../correctable/backoff.ts';
export type { ConnectionState } from '../../transport/settings/connection-state.ts';
export type { ConnectionOptions } from '../../transport/settings/options.ts';
export type { WebSocketConstructor, WebSocketLike } from '../../transport/settings/websocket.ts';
export {
  defineContract,
  operation,
  type Contract,
  type ContractInfo,
  type OperationSpec,
  type OperationSpecs,
} from '../../protocol/contract/contract.ts';
export { isDomainError, type DomainError } from '../../protocol/contract/domain-error.ts';
export { keyValueOperations, queueOperations } from '../../protocol/contract/portable.ts';
export { findSites, type FindSitesOptions } from '../../transport/find-sites.ts';
