/** `correctables/bindings/remote`: a client's access to a store behind a gateway. */
export { remote, type RemoteOptions } from './remote.ts';
export {
  exponentialBackoff,
  neverReconnect,
  type BackoffOptions,
  type Backoff as ReconnectPolicy,
} from '../../correctable/backoff.ts';
export type { RemoteBinding } from '../../transport/remote-binding.ts';
export type { ConnectionState } from '../../transport/options/connection-state.ts';
export type { ConnectionOptions } from '../../transport/options/options.ts';
export type { Scheduling } from '../../transport/options/scheduling.ts';
export type { WebSocketConstructor, WebSocketLike } from '../../transport/options/websocket.ts';
export { findSites, type FindSitesOptions } from '../../transport/find-sites.ts';
