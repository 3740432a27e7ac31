/** The retailers: one websocket client each, to the site that it stands beside. */
import { createClient, CorrectableError } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { ticketShop } from '../contract.ts';
import type { Shop } from '../purchase.ts';
import type { ConnectionWatch } from './connection-watch.ts';

const DIRECTORY_TIMEOUT_MS = 5_000;

export interface Retailer {
  readonly site: string;
  readonly shop: Shop;
}

/**
 * Connects a retailer to each of the named sites; a site may be named more than once.
 *
 * @throws CorrectableError `UNAVAILABLE` when the site directory does not answer, `INVALID_ARGUMENT` for a site that
 * the backend does not have
 */
export async function openRetailers(names: readonly string[], watch: ConnectionWatch): Promise<readonly Retailer[]> {
  const urls = await siteDirectory();
  for (const site of names) {
    if (urls.has(site)) continue;
    const known = [...urls.keys()].join(', ');
    throw new CorrectableError('INVALID_ARGUMENT', `There is no site "${site}"; retailers can stand beside ${known}.`, {
      field: 'retailers',
    });
  }
  return names.map((site, retailer) => {
    const onStateChange = (state: string): void => watch.note(retailer, site, state);
    return { site, shop: createClient(redblue(ticketShop, { url: urls.get(site) as string, onStateChange })) };
  });
}

/** Closes the connections; purchases under way fail. */
export async function closeRetailers(retailers: readonly Retailer[]): Promise<void> {
  await Promise.all(retailers.map(({ shop }) => shop.close()));
}

/** Where the sites are: name → websocket address. */
async function siteDirectory(): Promise<ReadonlyMap<string, string>> {
  try {
    const response = await fetch('/sites', { signal: AbortSignal.timeout(DIRECTORY_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`GET /sites answered ${response.status}`);
    const { sites } = (await response.json()) as { sites: readonly { name: string; path: string }[] };
    return new Map(sites.map(({ name, path }) => [name, webSocketUrl(path)]));
  } catch (cause) {
    throw new CorrectableError('UNAVAILABLE', 'The site directory does not answer.', { cause });
  }
}

/** The sites listen at the page's own origin. */
function webSocketUrl(path: string): string {
  const url = new URL(path, location.origin);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
