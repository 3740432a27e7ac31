/** A contest between the two ways, on an application that the test plays. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Application, Watch, Way } from '../../../demo/shared/chase/application.ts';
import { contend, type ContendOptions } from '../../../demo/shared/chase/contend.ts';
import { compare } from '../../../demo/shared/chase/report.ts';

afterEach(() => void vi.useRealTimers());

type Serve = (way: Way, watch: Watch) => void;

const serveRightly: Serve = (way, watch) => {
  if (way === 'correctable') watch.references(['a'], false);
  watch.fetching(['a'], undefined);
  watch.references(['a'], true);
  watch.delivered(['a']);
};

function played(serve: Serve): { application: Application; fetched: Record<Way, number[]>; changes: () => number } {
  const fetched: Record<Way, number[]> = { baseline: [], correctable: [] };
  let changed = 0;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const application: Application = {
    users: 1000,
    fetch: async (user, way, watch) => {
      fetched[way].push(user);
      await turn();
      serve(way, watch);
      return [];
    },
    change: async () => {
      changed += 1;
      await turn();
    },
  };
  return { application, fetched, changes: () => changed };
}

const SHORT: Omit<ContendOptions, 'application'> = {
  workload: 'A',
  seconds: 0.06,
  workers: 2,
  seed: 1,
  warmUpPairs: 0,
};

test('contend: both ways → the same users in the same order, both kinds of operations counted', async () => {
  const { application, fetched, changes } = played(serveRightly);
  const { slices } = await contend({ ...SHORT, workers: 1, application });
  const common = Math.min(fetched.baseline.length, fetched.correctable.length);
  expect(common).toBeGreaterThan(0);
  expect(fetched.baseline.slice(0, common)).toEqual(fetched.correctable.slice(0, common));
  const operations = slices.reduce((sum, slice) => sum + slice.operations, 0);
  expect(operations).toBe(fetched.baseline.length + fetched.correctable.length + changes());
  expect(changes()).toBeGreaterThan(0);
});

test('contend: warm-up → neither timed nor in the history', async () => {
  const { application, fetched } = played(serveRightly);
  const { slices, history } = await contend({ ...SHORT, warmUpPairs: 1, application });
  const timed = slices.flatMap(({ timings }) => timings).length;
  expect(timed).toBeLessThan(fetched.baseline.length + fetched.correctable.length);
  expect(new Set(history.map(({ request }) => request)).size).toBe(timed);
});

test('contend: an application that delivers the preliminary ads → the report says so', async () => {
  const { application } = played((way, watch) => {
    if (way === 'correctable') watch.references(['stale'], false);
    watch.fetching(['stale'], undefined);
    watch.references(['fresh'], true);
    watch.delivered(way === 'correctable' ? ['stale'] : ['fresh']);
  });
  const contest = await contend({ ...SHORT, application });
  const served = contest.slices.find(({ way }) => way === 'correctable')?.timings.length;
  expect(served).toBeGreaterThan(0);
  expect(compare(contest)).toMatchObject({ divergence: 1, wrongDeliveries: served });
});

test('contend: an application that ends without delivering → a failure that names the request', async () => {
  const { application } = played((way, watch) => {
    if (way === 'baseline') serveRightly(way, watch);
  });
  await expect(contend({ ...SHORT, application })).rejects.toThrow(
    /correctable-0-\d+-\d+ ended without being delivered/,
  );
});

/** One place that serves one after the other: what it does in a second is known, however many wait. */
function oneAtATime(serviceMs: number): Application {
  let free = 0;
  const served = (): Promise<void> => {
    free = Math.max(free, performance.now()) + serviceMs;
    return new Promise((resolve) => setTimeout(resolve, free - performance.now()));
  };
  return {
    users: 1000,
    fetch: async (_user, way, watch) => {
      await served();
      serveRightly(way, watch);
      return [];
    },
    change: served,
  };
}

test.each([
  ['nobody waits', 1],
  ['many wait, less than a slice', 20],
  ['all wait longer than a slice lasts', 200],
])('contend: %s → the rate is what the store does', async (_case, workers) => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  const over = contend({ ...SHORT, seconds: 2, sliceMs: 500, workers, application: oneAtATime(5) });
  await vi.advanceTimersByTimeAsync(60_000);
  const { baseline, correctable } = compare(await over);
  for (const { opsPerSec } of [baseline, correctable]) expect(Math.abs(opsPerSec - 200)).toBeLessThanOrEqual(2);
  // What it was by the time of the workers, and what the test can notice.
  if (workers === 200) expect(baseline.opsPerSecByBusyTime).toBeGreaterThan(220);
});

test('contend: no operation of some worker ends → its failure ends the others too', async () => {
  const { application } = played(serveRightly);
  let asked = 0;
  const fetch: Application['fetch'] = (...call) => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('refused')) : application.fetch(...call);
  };
  await expect(contend({ ...SHORT, workload: 'C', application: { ...application, fetch } })).rejects.toThrow('refused');
});
