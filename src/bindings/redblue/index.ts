/** `correctables/bindings/redblue`: a client's access to a RedBlue service. */
export { redblue, REDBLUE_LEVELS, type RedBlueLevels } from './redblue.ts';
export type { RemoteBinding } from '../../transport/connection-binding.ts';
export { byContract, type Handlers } from '../../protocol/by-contract.ts';
export { parseArgs, type Catalogue, type CatalogueEntry } from '../../protocol/catalogue.ts';
export {
  exponentialBackoff,
  neverReconnect,
  type BackoffOptions,
  type Backoff as ReconnectPolicy,
} from '../../correctable/backoff.ts';
export type { ConnectionState } from '../../transport/connection-state.ts';
export type { ConnectionOptions } from '../../transport/options.ts';
export type { WebSocketConstructor, WebSocketLike } from '../../transport/websocket.ts';
export {
  defineContract,
  operation,
  type Contract,
  type ContractInfo,
  type OperationSpec,
  type OperationSpecs,
} from '../../protocol/contract.ts';
export { isDomainError, type DomainError } from '../../protocol/domain-error.ts';
export { keyValueOperations, queueOperations } from '../../protocol/portable.ts';
export { findSites, type FindSitesOptions } from '../../transport/find-sites.ts';
