/** `correctables/bindings/remote`: a client's access to a store behind a gateway. */
export { remote, type RemoteOptions } from './remote.ts';
export {
  exponentialBackoff,
  neverReconnect,
  type BackoffOptions,
  type Backoff as ReconnectPolicy,
} from '../../correctable/backoff.ts';
export type { RemoteBinding } from '../../transport/connection-binding.ts';
export { byContract, type Handlers } from '../../protocol/by-contract.ts';
export { parseArgs, type Catalogue, type CatalogueEntry } from '../../protocol/catalogue.ts';
export {
  defineContract,
  operation,
  type Contract,
  type ContractInfo,
  type OperationSpec,
  type OperationSpecs,
} from '../../protocol/contract.ts';
export { keyValueOperations, queueOperations } from '../../protocol/portable.ts';
export type { ConnectionState } from '../../transport/connection-state.ts';
export type { ConnectionOptions } from '../../transport/options.ts';
export type { WebSocketConstructor, WebSocketLike } from '../../transport/websocket.ts';
export { findSites, type FindSitesOptions } from '../../transport/find-sites.ts';
