/**
 * Clients of the page: those of the reader, with a cache on this device, and those of the people in
 * the story.
 */
import { createClient, type Client } from 'correctables';
import { cached, indexedDbStore } from 'correctables/bindings/cache';
import type { CausalLevels } from 'correctables/bindings/causal';
import { exponentialBackoff, redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { remote } from 'correctables/bindings/remote';
import { news } from '../contract.ts';
import type { NewsLevels } from '../front-page.ts';
import type { CopyLevels } from '../plain-copies.ts';
import { toPath, type Site, type StoreName } from '../sites.ts';

export const CAUSAL_LEVELS: CausalLevels = ['causal', 'latest'];
export const COPY_LEVELS: CopyLevels = ['copy'];
export type CachedCausalLevels = readonly ['cache', ...CausalLevels];

/** How long an operation waits for a connection, and for its answer. */
export const TIMEOUT_MS = 6_000;
const RECONNECT_MS_MAX = 1_000;
/** The cache has one user. */
const PRINCIPAL = 'reader';

/** The clients of the reader for one site. */
export interface SiteClients {
  readonly headlines: Client<NewsLevels>;
  readonly comments: Client<CachedCausalLevels, boolean>;
  readonly copies: Client<CopyLevels>;
  /** Connects again at once. */
  wake(): void;
}

export function connectReader(site: Site, Socket: typeof WebSocket): SiteClients {
  const connection = {
    WebSocket: Socket,
    reconnect: exponentialBackoff({ maxDelayMs: RECONNECT_MS_MAX }),
  };
  const headlines = redblue(news, { url: toUrl('headlines', site), ...connection });
  const comments = remote({
    url: toUrl('comments', site),
    levels: CAUSAL_LEVELS,
    hasSessions: true,
    ...connection,
  });
  const copies = remote({ url: toUrl('copies', site), levels: COPY_LEVELS, ...connection });
  // Each site has a separate cache, because a site may be stale in comparison with another one.
  const openCache = (name: string) => ({
    principal: PRINCIPAL,
    store: indexedDbStore({ name: `${name} ${site}` }),
  });
  return {
    headlines: createClient(cached(headlines, openCache('headlines')), { timeoutMs: TIMEOUT_MS }),
    comments: createClient(cached(comments, openCache('comments')), { timeoutMs: TIMEOUT_MS }),
    copies: createClient(copies, { timeoutMs: TIMEOUT_MS }),
    wake: () => [headlines, comments, copies].forEach((binding) => binding.wake()),
  };
}

export function connectNewsroom(site: Site): Client<RedBlueLevels> {
  return createClient(redblue(news, { url: toUrl('headlines', site) }));
}

export function connectCommenter(site: Site): Client<CausalLevels> {
  return createClient(
    remote({ url: toUrl('comments', site), levels: CAUSAL_LEVELS, hasSessions: true }),
  );
}

export function connectCopyCommenter(site: Site): Client<CopyLevels> {
  return createClient(remote({ url: toUrl('copies', site), levels: COPY_LEVELS }));
}

function toUrl(store: StoreName, site: Site): string {
  const url = new URL(`./${toPath(store, site)}`, location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = '';
  return url.href;
}
