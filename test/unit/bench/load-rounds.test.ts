/** Which runs count, and of which start they are; what several clients did together. */
import { expect, test } from 'vitest';
import type { ClientReport } from '../../../bench/load/messages.ts';
import { measuredOf, type Contestant, type Measured } from '../../../bench/load/processes.ts';
import { measureRounds } from '../../../bench/load/rounds.ts';
import { measureStarts } from '../../../bench/load/starts.ts';

const quiet = (): void => {};

/** Each run does one operation a second more than the one before. */
function contestant(from = 0): Contestant & { stopped: number } {
  let runs = from;
  const rest = { clientUsPerOp: 1, serverUsPerOp: 1, serverCores: 1, p50Ms: 1, p99Ms: 1, p999Ms: 1 };
  return {
    stopped: 0,
    run: async () => ({ opsPerSecond: (runs += 1), ...rest }),
    async stop() {
      this.stopped += 1;
    },
  };
}

const order = { workload: 'set', window: 1, durationMs: 1 } as const;
const opsOf = (list: readonly Measured[] = []): number[] => list.map(({ opsPerSecond }) => opsPerSecond);

test('rounds: the first run of each contestant does not count', async () => {
  const contestants = new Map([
    ['a', contestant()],
    ['b', contestant(100)],
  ]);
  const measured = await measureRounds(contestants, { ...order, rounds: 2, progress: quiet });
  expect([opsOf(measured.get('a')), opsOf(measured.get('b'))]).toEqual([
    [2, 3],
    [102, 103],
  ]);
});

let started = 0;
const target = { kind: 'day', durable: false } as const;

test('starts: everybody starts anew, warms up, and each sample says which start it is of', async () => {
  const started: (Contestant & { stopped: number })[] = [];
  const [samples] = await measureStarts({ a: target }, [{ ...order, names: ['a'] }], {
    starts: 3,
    rounds: 2,
    warmUps: 4,
    warmUp: order,
    startOne: async () => {
      const one = contestant();
      started.push(one);
      return one;
    },
    progress: quiet,
  });
  const list = samples?.get('a') ?? [];
  expect(list.map(({ start }) => start)).toEqual([1, 1, 2, 2, 3, 3]);
  // Four runs to warm up, and one that the rounds throw away.
  expect(opsOf(list)).toEqual([6, 7, 6, 7, 6, 7]);
  expect(started.map(({ stopped }) => stopped)).toEqual([1, 1, 1]);
});

test('starts: all warm up, as often as each other, before anything is measured', async () => {
  const ran: string[] = [];
  const names = { redis: { kind: 'redis', durable: false } as const, site: target };
  await measureStarts(names, [{ ...order, names: ['redis', 'site'] }], {
    starts: 1,
    rounds: 1,
    warmUps: 3,
    warmUp: { ...order, window: 5 },
    startOne: async ({ kind }) => {
      const one = contestant();
      return { ...one, run: (asked) => (ran.push(`${kind} ${asked.window}`), one.run(asked)) };
    },
    progress: quiet,
  });
  const warmedUp = ran.slice(0, 6);
  expect(warmedUp.toSorted()).toEqual([...Array(3).fill('day 5'), ...Array(3).fill('redis 5')]);
  expect(new Set(ran.slice(6))).toEqual(new Set(['day 1', 'redis 1']));
});

test('starts: who is first goes on over them, and in every other one the order is the other way round', async () => {
  const ran: string[] = [];
  const names = ['a', 'b', 'c', 'd', 'e'] as const;
  const [samples] = await measureStarts(
    { a: target, b: target, c: target, d: target, e: target },
    [{ ...order, names }],
    {
      starts: 10,
      rounds: 2,
      warmUps: 0,
      warmUp: order,
      startOne: async () => {
        const [name, one] = [names[started++ % names.length] as string, contestant()];
        const run: Contestant['run'] = (given) => {
          ran.push(name);
          return one.run(given);
        };
        return { ...one, run };
      },
      progress: quiet,
    },
  );
  expect(samples?.get('e')).toHaveLength(20);
  // Of each start the last two rounds count.
  const rounds = Array.from({ length: 10 * 3 }, (_, at) => ran.slice(5 * at, 5 * at + 5).join(''));
  const counted = rounds.filter((_, at) => at % 3 > 0);
  for (const name of names) {
    for (let place = 0; place < names.length; place += 1) {
      expect(counted.filter((round) => round[place] === name)).toHaveLength(4);
    }
    const afterA = counted.filter((round) => round.includes(`a${name}`)).length;
    if (name !== 'a') expect(afterA).toBeLessThan(10);
  }
  expect(counted.slice(0, 4)).toEqual(['bcdea', 'cdeab', 'baedc', 'aedcb']);
});

test.each([
  { is: 'decided at once', decidedAt: 0, starts: 2 },
  { is: 'decided by the third', decidedAt: 3, starts: 4 },
  { is: 'never decided', decidedAt: Infinity, starts: 6 },
])('starts: $is → $starts of 2 to 6', async ({ decidedAt, starts }) => {
  const told: string[] = [];
  const [samples] = await measureStarts({ a: target }, [{ ...order, names: ['a'] }], {
    starts: 2,
    startsMax: 6,
    isDecided: ([soFar]) => (soFar?.get('a')?.length ?? 0) >= decidedAt,
    rounds: 1,
    warmUps: 1,
    warmUp: order,
    startOne: async () => contestant(),
    progress: (text) => told.push(text),
  });
  expect(samples?.get('a')?.map(({ start }) => start)).toEqual(Array.from({ length: starts }, (_, at) => at + 1));
  expect(told.some((text) => text.startsWith('start 3 of at most 6, until it is decided'))).toBe(starts > 2);
});

test('several clients: their rates together, the latency of the slowest, the time of the server by the clock', () => {
  const report = (of: Partial<ClientReport>): ClientReport => ({
    operations: 100,
    elapsedMs: 1000,
    cpuUs: 2000,
    p50Ms: 1,
    p99Ms: 2,
    p999Ms: 3,
    ...of,
  });
  const slow = report({ operations: 300, elapsedMs: 2000, cpuUs: 6000, p50Ms: 5, p99Ms: 6, p999Ms: 7 });
  expect(measuredOf([report({}), slow], { elapsedMs: 2000, serverUs: 1_000_000 })).toEqual({
    opsPerSecond: 250,
    clientUsPerOp: 20,
    serverUsPerOp: 2500,
    serverCores: 0.5,
    p50Ms: 5,
    p99Ms: 6,
    p999Ms: 7,
  });
  const untold = measuredOf([slow], { elapsedMs: 2000, serverUs: null });
  expect(untold).toMatchObject({ serverUsPerOp: null, serverCores: null });
});
