/** Looking for sites, with a network and a clock that the test plays. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { findSites } from '../../../src/transport/find-sites.ts';

const HOME = 'http://127.0.0.1:7070';

interface Network {
  /** What the server says of its sites. */
  readonly directory: () => Response;
  /** By site, how long each of its answers takes, in milliseconds; one that fails is `'down'`, one that refuses `'closed'`. */
  readonly answers: Readonly<Record<string, readonly (number | 'down' | 'closed')[]>>;
}

/** Servers with sites `irl` and `frk`, unless they say otherwise, and how often each site was asked. */
function played({ directory, answers }: Partial<Network>) {
  const asked: Record<string, number> = {};
  let nowMs = 1000;
  const fetch = async (url: string): Promise<Response> => {
    if (url === `${HOME}/sites`) return directory?.() ?? Response.json({ sites: [{ name: 'irl' }, { name: 'frk' }] });
    const site = url.replace(`${HOME}/ready/`, '');
    const n = asked[site] ?? 0;
    asked[site] = n + 1;
    const answer = answers?.[site]?.[n] ?? 5;
    if (answer === 'down') throw new Error('out of reach');
    if (answer === 'closed') return new Response('', { status: 503 });
    nowMs += answer;
    return new Response('');
  };
  return { asked, options: { fetch, now: () => nowMs } };
}

const socket = (site: string): string => `ws://127.0.0.1:7070/${site}`;

test('each site is asked three times', async () => {
  const { asked, options } = played({ directory: () => Response.json({ sites: [{ name: 'irl' }] }) });
  expect(await findSites(HOME, options)).toEqual([socket('irl')]);
  expect(asked).toEqual({ irl: 3 });
});

test.each<[what: string, irl: Network['answers'][string], asked: number]>([
  ['refuses clients', ['closed'], 1],
  ['is out of reach', ['down'], 1],
  ['refuses the second time', [0, 'closed'], 2],
])('a site that %s → last, and not asked again', async (_what, irl, times) => {
  const { asked, options } = played({ answers: { irl } });
  expect(await findSites(HOME, options)).toEqual([socket('frk'), socket('irl')]);
  expect(asked['irl']).toBe(times);
});

test('a directory with an error status → UNAVAILABLE, whatever its body', async () => {
  const directory = (): Response => Response.json({ sites: [{ name: 'irl' }] }, { status: 500 });
  const { options } = played({ directory });
  await expect(findSites(HOME, options)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('HTTP 500'),
  });
});

test('no server → UNAVAILABLE, rather than no addresses', async () => {
  await expect(findSites([], played({}).options)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test.each<[what: string, options: Readonly<Record<string, unknown>>, code: string]>([
  ['an option that is misspelt', { timeOutMs: 5 }, 'INVALID_ARGUMENT'],
  ['a clock that is none', { now: 5 }, 'INVALID_ARGUMENT'],
  ['a fetch that is none', { fetch: 'fetch' }, 'INVALID_ARGUMENT'],
  ['no time', { timeoutMs: 0 }, 'INVALID_ARGUMENT'],
])('%s → %s', async (_what, given, code) => {
  await expect(findSites(HOME, { ...played({}).options, ...given })).rejects.toMatchObject({ code });
});

test.each([1, 0.5, 2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE, Infinity])(
  '%d ms for an answer → taken',
  async (timeoutMs) => {
    expect(await findSites(HOME, { ...played({}).options, timeoutMs })).toHaveLength(2);
  },
);

test('an address that is none → INVALID_ARGUMENT, and it is named', async () => {
  await expect(findSites('nowhere', played({}).options)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'directory',
    message: expect.stringContaining('nowhere must be'),
  });
});

test.each([
  ['not said', undefined, 2_000],
  ['said', 700, 700],
  ['longer than platforms can wait', Infinity, 2 ** 31 - 1],
])('a time that is %s → each answer is waited for so long', async (_what, timeoutMs, waitsMs) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  await findSites(HOME, { ...played({}).options, timeoutMs });
  expect(new Set(timeout.mock.calls.map(([ms]) => ms))).toEqual(new Set([waitsMs]));
});

test.each([
  [50, ['frk', 'irl']],
  [1, ['irl', 'frk']],
])('by the clock of the platform, an answer of the first takes %d ms, of the other 5 → %s', async (tookMs, order) => {
  let nowMs = 1_000;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  // Also where the test fails, for this is the clock of all that comes after it.
  onTestFinished(() => now.mockRestore());
  let asked = 0;
  let go = (): void => {};
  // The first answers once the other has been measured: neither takes the time of the other for its own.
  const others = new Promise<void>((resolve) => (go = resolve));
  const fetch = async (url: string): Promise<Response> => {
    if (url === `${HOME}/sites`) return Response.json({ sites: [{ name: 'irl' }, { name: 'frk' }] });
    if (url.endsWith('/irl')) await others;
    nowMs += url.endsWith('/irl') ? tookMs : 5;
    if (url.endsWith('/frk') && ++asked === 3) go();
    return new Response('');
  };
  expect(await findSites(HOME, { fetch })).toEqual(order.map(socket));
});
