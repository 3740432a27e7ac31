/** Which sites there are, and which is the nearest: asked and measured over HTTP before a client connects. */
import { elapsedMs } from '../correctable/clock.ts';
import { CorrectableError, invalidArgument } from '../correctable/errors.ts';
import { checkKinds, checkNamed, type NamesOf } from '../correctable/given.ts';
import { parseUrl } from './settings/websocket.ts';

/** How to look for sites. */
export interface FindSitesOptions {
  /** What asks. Default: the platform's `fetch`. */
  readonly fetch?: ((url: string, init: { readonly signal: AbortSignal }) => Promise<Response>) | undefined;
  /** How long one answer may take, in milliseconds; `Infinity` for no limit. Default 2000. */
  readonly timeoutMs?: number | undefined;
  /** What time it is, in milliseconds; for tests. */
  readonly now?: (() => number) | undefined;
}

const OPTIONS: NamesOf<FindSitesOptions> = { fetch: true, timeoutMs: true, now: true };

/** How often each site is measured: the first answer also pays for the connection. */
const SAMPLES = 3;
const TIMEOUT_MS_DEFAULT = 2000;
/** Platforms abort at once when asked to do so after more than this. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

interface Probe {
  /** The answer and how long it took. */
  ask(url: string): Promise<{ readonly response: Response; readonly tookMs: number }>;
}

/**
 * Asks servers which sites they have, measures each, and gives the websocket addresses, the nearest first; those that
 * do not answer last. For the option `url` of `remote` and `redblue`.
 *
 * @param directories addresses of one or more servers, for example `http://127.0.0.1:7070`.
 * @throws CorrectableError `INVALID_ARGUMENT` for an address or a time that is none, `UNAVAILABLE` when no server tells
 * its sites.
 * @example
 * const store = createClient(redblue(shop, { url: await findSites('http://127.0.0.1:7070') }));
 */
export async function findSites(
  directories: string | URL | readonly (string | URL)[],
  options: FindSitesOptions = {},
): Promise<readonly string[]> {
  checkNamed(options, { call: "findSites('http://127.0.0.1:7070', { timeoutMs: 500 })" }, OPTIONS);
  checkKinds(options, 'function', 'fetch', 'now');
  const probe = probeOf(options);
  const bases = (Array.isArray(directories) ? directories : [directories]).map((given) =>
    baseOf(given as string | URL),
  );
  const listed = await Promise.all(bases.map((base) => sitesOf(base, probe)));
  const sites = listed.flatMap((each) => (each instanceof CorrectableError ? [] : each));
  if (sites.length === 0) {
    const [first] = listed;
    throw first instanceof CorrectableError ? first : new CorrectableError('UNAVAILABLE', 'the servers have no sites');
  }
  const measured = await Promise.all(sites.map(async (site) => ({ site, tookMs: await measure(site, probe) })));
  return measured.toSorted((a, b) => a.tookMs - b.tookMs).map(({ site }) => site.socket);
}

interface Site {
  readonly socket: string;
  readonly ready: string;
}

function probeOf({ fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS_DEFAULT, now }: FindSitesOptions): Probe {
  const clock = now ?? elapsedMs;
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0)) {
    throw invalidArgument('timeoutMs', `must be a positive number, not ${String(timeoutMs)}`);
  }
  // Platforms take whole milliseconds.
  const withinMs = Math.ceil(Math.min(timeoutMs, TIMEOUT_MS_MAX));
  return {
    async ask(url) {
      const from = clock();
      const response = await fetch(url, { signal: timeoutSignal(withinMs) });
      return { response, tookMs: clock() - from };
    },
  };
}

/** Some platforms, as React Native, have no `AbortSignal.timeout`. */
function timeoutSignal(withinMs: number): AbortSignal {
  if (typeof AbortSignal.timeout === 'function') return AbortSignal.timeout(withinMs);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error(`no answer within ${withinMs} ms`)), withinMs);
  return controller.signal;
}

function baseOf(given: string | URL): URL {
  const base = parseUrl(given);
  if (base?.protocol === 'http:' || base?.protocol === 'https:') return base;
  throw invalidArgument('directory', `${String(given)} must be an address that begins with http:// or https://`);
}

async function sitesOf(base: URL, probe: Probe): Promise<readonly Site[] | CorrectableError> {
  try {
    const { response } = await probe.ask(new URL('/sites', base).href);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return namesIn(await response.json()).map((name) => {
      const socket = new URL(`/${name}`, base);
      socket.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
      return { socket: socket.href, ready: new URL(`/ready/${name}`, base).href };
    });
  } catch (cause) {
    const message = `${base.origin} does not tell its sites: ${cause instanceof Error ? cause.message : String(cause)}`;
    return new CorrectableError('UNAVAILABLE', message, { cause });
  }
}

function namesIn(directory: unknown): string[] {
  const { sites } = directory as { readonly sites?: unknown };
  if (!Array.isArray(sites)) throw new Error('the answer has no sites');
  return sites.map((site: unknown) => {
    const { name } = site as { readonly name?: unknown };
    if (typeof name === 'string' && /^[\w-]+$/.test(name)) return name;
    throw new Error('a site has no name');
  });
}

/** The fastest of some answers; `Infinity` for a site that takes no clients. */
async function measure({ ready }: Site, probe: Probe): Promise<number> {
  let fastestMs = Infinity;
  for (let n = 0; n < SAMPLES; n++) {
    try {
      const { response, tookMs } = await probe.ask(ready);
      if (!response.ok) return Infinity;
      fastestMs = Math.min(fastestMs, tookMs);
    } catch {
      // Out of reach: it comes last, and the connection will say so if it is needed all the same.
      return Infinity;
    }
  }
  return fastestMs;
}
