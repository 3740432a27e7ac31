/** `correctables/bindings/remote`: a client's access to a store behind a gateway. */
export { remote, type RemoteOptions } from './remote.ts';
export {
  exponentialBackoff,
  neverReconnect,
  type BackoffOptions,
  type Backoff as ReconnectPolicy,
} from '../../correctable/backoff.ts';
export type { RemoteBinding } from '../../transport/connection-binding.ts';
export type { ConnectionState } from '../../transport/settings/connection-state.ts';
export type { ConnectionOptions } from '../../transport/settings/options.ts';
export type { Scheduling } from '../../transport/settings/scheduling.ts';
export type { WebSocketConstructor, WebSocketLike } from '../../transport/settings/websocket.ts';
export { findSites, type FindSitesOptions } from '../../transport/find-sites.ts';
