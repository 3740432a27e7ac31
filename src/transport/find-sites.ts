/**
 * Finds the sites of a deployment and the nearest one of them. It requests lists and measures over
 * HTTP before a client connects.
 */
import { getElapsedMs, systemClock } from '../correctable/clock.ts';
import { CorrectableError, createInvalidArgumentError } from '../correctable/errors.ts';
import {
  amount,
  callback,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
} from '../correctable/options.ts';
import { parseUrl } from './options/websocket.ts';
import { getErrorMessage } from '../values/error-message.ts';

/** Options of `findSites`. */
export interface FindSitesOptions {
  /** Sends the requests. Default: the platform's `fetch` */
  readonly fetch?:
    | ((url: string, init: { readonly signal: AbortSignal }) => Promise<Response>)
    | undefined;
  /** Timeout of each request, in milliseconds; `Infinity` for no limit. Default: 2000 */
  readonly timeoutMs?: number | undefined;
  /** Returns the time in milliseconds; for tests. */
  readonly now?: (() => number) | undefined;
}

export const FIND_SITES_OPTIONS = {
  fetch: optional(callback),
  timeoutMs: optional(amount({ above: 0, max: Infinity }), 2000),
  now: optional(callback, getElapsedMs),
} satisfies OptionsOf<FindSitesOptions>;

/** How often each site is measured. The first measurement includes the time to connect. */
const SAMPLES_PER_SITE = 3;
/** The longest timeout that platforms accept. If it is longer, they abort at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Requests an address. Resolves with the response and how long it took. */
type Probe = (url: string) => Promise<{ readonly response: Response; readonly tookMs: number }>;

/**
 * Requests lists of sites from servers and measures each site. Returns websocket addresses for the
 * option `url` of `remote` and `redblue`: the nearest first, those that do not answer last.
 *
 * @param directories addresses of one or more servers, for example `http://127.0.0.1:7070`.
 * @throws CorrectableError `INVALID_ARGUMENT` if an address or a time is invalid; `UNAVAILABLE` if
 * no server lists its sites
 * @example
 * const store = createClient(redblue(shop, { url: await findSites('http://127.0.0.1:7070') }));
 */
export async function findSites(
  directories: string | URL | readonly (string | URL)[],
  options: FindSitesOptions = {},
): Promise<readonly string[]> {
  const call = "findSites('http://127.0.0.1:7070', { timeoutMs: 500 })";
  const probe = createProbe(readOptions(options, { call }, FIND_SITES_OPTIONS));
  const bases = (Array.isArray(directories) ? directories : [directories]).map((value) =>
    parseBaseUrl(value as string | URL),
  );
  const listed = await Promise.all(bases.map((base) => listSites(base, probe)));
  const all = listed.flatMap((item) => (item instanceof CorrectableError ? [] : item));
  // Servers of one deployment list each other's sites.
  const sites = [...new Map(all.map((site) => [site.socketUrl, site])).values()];
  if (sites.length === 0) {
    const [first] = listed;
    throw first instanceof CorrectableError
      ? first
      : new CorrectableError('UNAVAILABLE', 'the servers have no sites');
  }
  const measured = await Promise.all(
    sites.map(async (site) => ({
      site,
      tookMs: await measureSite(site, probe),
    })),
  );
  return measured.toSorted((a, b) => a.tookMs - b.tookMs).map(({ site }) => site.socketUrl);
}

interface SiteUrls {
  readonly socketUrl: string;
  readonly readyUrl: string;
}

function createProbe({
  fetch = globalThis.fetch,
  timeoutMs,
  now,
}: ResolvedOptions<FindSitesOptions, typeof FIND_SITES_OPTIONS>): Probe {
  // Platforms take only whole milliseconds.
  const withinMs = Math.ceil(Math.min(timeoutMs, MAX_TIMEOUT_MS));
  return async (url) => {
    const from = now();
    const response = await fetch(url, {
      signal: createTimeoutSignal(withinMs),
    });
    return { response, tookMs: now() - from };
  };
}

/** Some platforms, such as React Native, have no `AbortSignal.timeout`. */
function createTimeoutSignal(withinMs: number): AbortSignal {
  if (typeof AbortSignal.timeout === 'function') return AbortSignal.timeout(withinMs);
  const controller = new AbortController();
  systemClock.setTimer(
    () => controller.abort(new Error(`no answer within ${withinMs} ms`)),
    withinMs,
  );
  return controller.signal;
}

function parseBaseUrl(value: string | URL): URL {
  const base = parseUrl(value);
  if (base?.protocol === 'http:' || base?.protocol === 'https:') return base;
  const advice = `${String(value)} must be an address that begins with http:// or https://`;
  throw createInvalidArgumentError('directory', advice);
}

async function listSites(base: URL, probe: Probe): Promise<readonly SiteUrls[] | CorrectableError> {
  try {
    const { response } = await probe(new URL('/sites', base).href);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return readListedSites(await response.json()).map(({ name, url }) => {
      const isSecure = (url ?? base).protocol === (url === undefined ? 'https:' : 'wss:');
      const socket = new URL(`/${name}`, url ?? base);
      socket.protocol = isSecure ? 'wss:' : 'ws:';
      const ready = new URL(`/ready/${name}`, url ?? base);
      ready.protocol = isSecure ? 'https:' : 'http:';
      return { socketUrl: socket.href, readyUrl: ready.href };
    });
  } catch (cause) {
    const message = `${base.origin} does not list its sites: ${getErrorMessage(cause)}`;
    return new CorrectableError('UNAVAILABLE', message, { cause });
  }
}

/** A site, with an address if it is on another server. */
interface ListedSite {
  readonly name: string;
  readonly url: URL | undefined;
}

function readListedSites(directory: unknown): ListedSite[] {
  const { sites } = directory as { readonly sites?: unknown };
  if (!Array.isArray(sites)) throw new Error('the answer has no sites');
  return sites.map((site: unknown) => {
    const { name, url } = site as {
      readonly name?: unknown;
      readonly url?: unknown;
    };
    if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) throw new Error('a site has no name');
    if (url === undefined) return { name, url };
    const parsed = typeof url === 'string' ? parseUrl(url) : undefined;
    if (parsed?.protocol === 'ws:' || parsed?.protocol === 'wss:') return { name, url: parsed };
    throw new Error(`the site ${name} has no websocket address`);
  });
}

/** Returns the fastest of several responses, or `Infinity` for a site that accepts no clients. */
async function measureSite({ readyUrl }: SiteUrls, probe: Probe): Promise<number> {
  let fastestMs = Infinity;
  for (let n = 0; n < SAMPLES_PER_SITE; n++) {
    try {
      const { response, tookMs } = await probe(readyUrl);
      if (!response.ok) return Infinity;
      fastestMs = Math.min(fastestMs, tookMs);
    } catch {
      // The site cannot be reached, so it comes last in the list. If a client connects to it all
      // the same, the connection reports the error.
      return Infinity;
    }
  }
  return fastestMs;
}
