/** The sites: one websocket client for each, which its retailers share. */
import { createClient, CorrectableError } from 'correctables';
import { exponentialBackoff, redblue } from 'correctables/bindings/redblue';
import { ticketShop } from '../contract.ts';
import type { Shop } from '../purchase.ts';
import { SimulatedDisconnect } from './simulated-disconnect.ts';

const DIRECTORY_TIMEOUT_MS = 5_000;
/**
 * The timeout of a purchase. It is long enough to plug a cable in again, so that a purchase in
 * flight still ends, and takes effect once.
 */
export const PURCHASE_TIMEOUT_MS = 60_000;
const RECONNECT_MS_MAX = 1_000;

export interface Site {
  readonly name: string;
  readonly shop: Shop;
  /** The site that serves its customers. It is another site if the client has moved. */
  readonly at: string;
  readonly isCut: boolean;
  /** Unplugs the cable to this site, or plugs it in again; absent if there is no such cable. */
  setCut?(isCut: boolean): void;
}

/**
 * Connects to every site of a backend.
 *
 * @param onStateChange called at every change of a connection's state
 * @throws CorrectableError `UNAVAILABLE` when the backend does not answer
 */
export type OpenSites = (
  onStateChange: (site: string, state: string) => void,
) => Promise<readonly Site[]>;

/** Connects to the sites that the page's own server names. */
export const openSites: OpenSites = async (onStateChange) => {
  const urls = await siteDirectory();
  return urls.map(([name, url]) => {
    const cable = new SimulatedDisconnect(WebSocket);
    const binding = redblue(ticketShop, {
      url,
      WebSocket: cable.WebSocket,
      reconnect: exponentialBackoff({ maxDelayMs: RECONNECT_MS_MAX }),
      onStateChange: (state) => onStateChange(name, state),
    });
    return {
      name,
      at: name,
      shop: createClient(binding, { timeoutMs: PURCHASE_TIMEOUT_MS }),
      get isCut() {
        return cable.isCut;
      },
      setCut: (isCut) => {
        if (isCut) return cable.cut();
        cable.mend();
        binding.wake();
      },
    };
  });
};

/** Closes the connections; purchases in flight fail. */
export async function closeSites(sites: readonly Site[]): Promise<void> {
  await Promise.all(sites.map(({ shop }) => shop.close()));
}

/** Returns the name and the websocket address of each site. */
async function siteDirectory(): Promise<readonly (readonly [name: string, url: string])[]> {
  try {
    const response = await fetch('sites', { signal: AbortSignal.timeout(DIRECTORY_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`GET /sites answered ${response.status}`);
    const { sites } = (await response.json()) as {
      sites: readonly { name: string; path: string }[];
    };
    return sites.map(({ name, path }) => [name, toWebSocketUrl(path)] as const);
  } catch (cause) {
    throw new CorrectableError('UNAVAILABLE', 'The site directory does not answer.', { cause });
  }
}

/** The sites listen beside the page. */
function toWebSocketUrl(path: string): string {
  const url = new URL(`.${path}`, location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
