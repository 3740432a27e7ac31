/** Looking for sites, with a network and a clock that the test plays. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { findSites } from '../../../src/transport/find-sites.ts';

const HOME = 'http://127.0.0.1:7070';

interface Network {
  /** The response of the server to the request for its sites. */
  readonly directory: () => Response;
  /**
   * By site, how long each of its answers takes, in milliseconds; one that fails is `'down'`, one
   * that refuses `'closed'`.
   */
  readonly answers: Readonly<Record<string, readonly (number | 'down' | 'closed')[]>>;
}

/**
 * Servers with sites `ireland` and `frankfurt`, unless they say otherwise, and how often each site
 * was asked.
 */
function played({ directory, answers }: Partial<Network>) {
  const requested: Record<string, number> = {};
  let nowMs = 1000;
  const fetch = async (url: string): Promise<Response> => {
    if (url === `${HOME}/sites`)
      return (
        directory?.() ?? Response.json({ sites: [{ name: 'ireland' }, { name: 'frankfurt' }] })
      );
    const site = url.replace(`${HOME}/ready/`, '');
    const n = requested[site] ?? 0;
    requested[site] = n + 1;
    const answer = answers?.[site]?.[n] ?? 5;
    if (answer === 'down') throw new Error('out of reach');
    if (answer === 'closed') return new Response('', { status: 503 });
    nowMs += answer;
    return new Response('');
  };
  return { asked: requested, options: { fetch, now: () => nowMs } };
}

const socket = (site: string): string => `ws://127.0.0.1:7070/${site}`;

test('each site is asked three times', async () => {
  const { asked: requested, options } = played({
    directory: () => Response.json({ sites: [{ name: 'ireland' }] }),
  });
  expect(await findSites(HOME, options)).toEqual([socket('ireland')]);
  expect(requested).toEqual({ ireland: 3 });
});

test.each<[what: string, ireland: Network['answers'][string], asked: number]>([
  ['refuses clients', ['closed'], 1],
  ['is out of reach', ['down'], 1],
  ['refuses the second time', [0, 'closed'], 2],
])('a site that %s → last, and not retried', async (_what, ireland, times) => {
  const { asked: requested, options } = played({ answers: { ireland } });
  expect(await findSites(HOME, options)).toEqual([socket('frankfurt'), socket('ireland')]);
  expect(requested['ireland']).toBe(times);
});

test('a directory with an error status → UNAVAILABLE, whatever its body', async () => {
  const directory = (): Response =>
    Response.json({ sites: [{ name: 'ireland' }] }, { status: 500 });
  const { options } = played({ directory });
  await expect(findSites(HOME, options)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('HTTP 500'),
  });
});

test('no server → UNAVAILABLE, rather than no addresses', async () => {
  await expect(findSites([], played({}).options)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
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
  ['not set', undefined, 2_000],
  ['set', 700, 700],
  ['longer than a timer allows', Infinity, 2 ** 31 - 1],
])('a timeout that is %s → applies to each response', async (_what, timeoutMs, waitsMs) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  await findSites(HOME, { ...played({}).options, timeoutMs });
  expect(new Set(timeout.mock.calls.map(([ms]) => ms))).toEqual(new Set([waitsMs]));
});

test.each([
  [50, ['frankfurt', 'ireland']],
  [1, ['ireland', 'frankfurt']],
])(
  'by the clock of the platform, an answer of the first takes %d ms, of the other 5 → %s',
  async (tookMs, order) => {
    let nowMs = 1_000;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    // Also where the test fails, for this is the clock of all that comes after it.
    onTestFinished(() => now.mockRestore());
    let requested = 0;
    let go = (): void => {};
    // The first answers once the other has been measured: neither takes the time of the other for
    // its own.
    const others = new Promise<void>((resolve) => (go = resolve));
    const fetch = async (url: string): Promise<Response> => {
      if (url === `${HOME}/sites`)
        return Response.json({ sites: [{ name: 'ireland' }, { name: 'frankfurt' }] });
      if (url.endsWith('/ireland')) await others;
      nowMs += url.endsWith('/ireland') ? tookMs : 5;
      if (url.endsWith('/frankfurt') && ++requested === 3) go();
      return new Response('');
    };
    expect(await findSites(HOME, { fetch })).toEqual(order.map(socket));
  },
);
