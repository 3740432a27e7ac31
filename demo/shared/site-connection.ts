/** A client of several sites that shows which of them it is connected to. */
import {
  exponentialBackoff,
  redblue,
  type RemoteBinding,
  type RedBlueLevels,
} from 'correctables/bindings/redblue';

type Contract = Parameters<typeof redblue>[0];
type Options = Parameters<typeof redblue>[1];
export type WebSocketClass = NonNullable<Options['WebSocket']>;

/**
 * Short heartbeats, so that visitors see within two or three seconds that clients leave a stalled
 * site.
 */
const PATIENCE = {
  heartbeatIntervalMs: 2_500,
  pongTimeoutMs: 1_000,
  connectTimeoutMs: 2_000,
} as const;
const RECONNECT_MS_MAX = 1_000;

export interface SiteConnectionOptions {
  /** Addresses of the sites, by name: the preferred one first. */
  readonly urls: readonly (readonly [site: string, url: string])[];
  readonly WebSocket: WebSocketClass;
  /** Called when the client is at another site than before. */
  readonly onMove?: (from: string, to: string) => void;
  readonly onStateChange?: Options['onStateChange'];
}

export interface SiteConnection {
  readonly binding: RemoteBinding<RedBlueLevels, true>;
  /** The site that the client is connected to, or was last. */
  readonly at: string;
}

/** Connects to the first of the sites; and to the next one whenever the connection is lost. */
export function connectToSites(contract: Contract, options: SiteConnectionOptions): SiteConnection {
  const { urls, WebSocket, onMove, onStateChange } = options;
  const [[first] = ['']] = urls;
  let tried = first;
  let at = first;
  const Tracked = class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      tried = urls.find(([, known]) => known === url)?.[0] ?? tried;
    }
  };
  const binding = redblue(contract, {
    url: urls.map(([, url]) => url),
    WebSocket: Tracked,
    reconnect: exponentialBackoff({ maxDelayMs: RECONNECT_MS_MAX }),
    ...PATIENCE,
    onStateChange: (state, reason) => {
      if (state === 'open' && tried !== at) {
        const from = at;
        at = tried;
        onMove?.(from, at);
      }
      onStateChange?.(state, reason);
    },
  });
  return {
    binding,
    get at() {
      return at;
    },
  };
}
