/**
 * The whole server beside Redis: one client process each, awaiting a Correctable here, a promise of ioredis with
 * auto-pipelining there; the same values of 16 bytes, at several windows of operations under way. The sites run with the
 * defaults of `correctables serve`, and once more as docs/operating.md recommends where there are processors to spare.
 */
import { atLeast, estimate, reported, type Bar, type Estimate } from '../harness/bars.ts';
import type { Bench, Outcome, Settings, Spread } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { versionsOf } from '../harness/provenance.ts';
import type { Target, Workload } from '../load/messages.ts';
import { redisVersion } from '../load/redis.ts';
import { ratioOf, ratioRange, rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, type Extent, type Plan } from '../load/starts.ts';

const TARGETS = {
  ephemeral: { kind: 'redblue', sites: 1, durable: false },
  'three sites': { kind: 'redblue', sites: 3, durable: false },
  'ephemeral, tuned': { kind: 'redblue', sites: 1, durable: false, tuned: true },
  redis: { kind: 'redis', durable: false },
  durable: { kind: 'redblue', sites: 1, durable: true },
  'durable, tuned': { kind: 'redblue', sites: 1, durable: true, tuned: true },
  'AOF always': { kind: 'redis', durable: true },
} as const satisfies Record<string, Target>;
type Name = keyof typeof TARGETS;

const WINDOWS = [1, 64, 1024] as const;
type Window = (typeof WINDOWS)[number];
/** Warmed up at the largest window: it takes some hundred thousand operations, and at window 1 a run is a thousand. */
const FULL: Extent = { starts: 3, rounds: 3, warmUps: 6 };
/** The window of the bars that name one. */
const NAMED: Window = 64;

/** Who is measured with red operations. */
const RED: readonly Name[] = ['ephemeral', 'ephemeral, tuned', 'three sites', 'durable', 'durable, tuned'];

/** What each pair is held to at each window: least that is acceptable, and the aim. */
const PAIRS = [
  {
    bar: 'ephemeral-blue-vs-ioredis',
    of: 'ephemeral',
    tuned: 'ephemeral, tuned',
    to: 'redis',
    aims: { 1: 1, 64: 1.5, 1024: 2 },
    floors: { 1: 0.9, 64: 1, 1024: 1.2 },
  },
  {
    bar: 'durable-blue-vs-ioredis-aof',
    of: 'durable',
    tuned: 'durable, tuned',
    to: 'AOF always',
    aims: { 1: 1, 64: 1.4, 1024: 2 },
    floors: { 1: 0.9, 64: 1, 1024: 1.3 },
  },
] as const;

export const server: Bench = {
  name: 'server',
  about: 'the whole server, ephemeral and durable, beside Redis through ioredis with auto-pipelining',
  run,
};

interface Measurement {
  readonly workload: Workload;
  readonly window: number;
  readonly samples: Samples<Name>;
}

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 250 : 600;
  const names = Object.keys(TARGETS) as Name[];
  const plans: readonly Plan<Name>[] = [
    ...WINDOWS.map((window) => ({ workload: 'set', window, durationMs, names }) as const),
    { workload: 'withdraw', window: NAMED, durationMs, names: RED },
  ];
  const warmUp = { workload: 'set', window: Math.max(...WINDOWS), durationMs } as const;
  const samples = await measureStarts(TARGETS, plans, { ...extent, warmUp, progress });
  const outcome = outcomeOf(
    extent.starts * extent.rounds,
    plans.map(({ workload, window }, index) => ({ workload, window, samples: samples[index] as Samples<Name> })),
  );
  return { ...outcome, versions: { redis: await redisVersion(), ...versionsOf('ioredis', 'ws') } };
}

function outcomeOf(rounds: number, measured: readonly Measurement[]): Outcome {
  const rows = measured.flatMap(({ workload, window, samples }) =>
    [...samples].map(([contender, list]) => ({ workload, window, contender, ...rowOf(list) })),
  );
  const samples = measured.map((each) => ({ ...each, samples: Object.fromEntries(each.samples) }));
  return { rounds, rows, bars: barsOf(measured), samples, figures: { server: plot(measured) } };
}

function samplesOf(measured: readonly Measurement[], workload: Workload, window: number): Samples<Name> {
  const found = measured.find((each) => each.workload === workload && each.window === window);
  if (found === undefined) throw new Error(`${workload} was not measured at window ${window}`);
  return found.samples;
}

function barsOf(measured: readonly Measurement[]): Bar[] {
  const set = (window: Window): Samples<Name> => samplesOf(measured, 'set', window);
  const red = samplesOf(measured, 'withdraw', NAMED);
  const figure = (samples: Samples<Name>, name: Name, of: 'opsPerSecond' | 'serverUsPerOp'): Estimate =>
    estimate((samples.get(name) ?? []).flatMap((one) => one[of] ?? []));
  return [
    ...PAIRS.flatMap(({ bar, of, tuned, to, aims, floors }) =>
      WINDOWS.flatMap((window) => [
        // The headline: as the command runs it. The floors are as old as the bars, which were of tuned sites then.
        atLeast(`${bar}-${window}`, ratioOf(set(window), of, to), { aim: aims[window] }),
        atLeast(`${bar}-${window}-tuned`, ratioOf(set(window), tuned, to), {
          floor: floors[window],
          aim: aims[window],
        }),
      ]),
    ),
    reported('red-rate', figure(red, 'ephemeral', 'opsPerSecond'), 'operations/s'),
    reported('red-rate-tuned', figure(red, 'ephemeral, tuned', 'opsPerSecond'), 'operations/s'),
    reported('red-rate-three-sites', figure(red, 'three sites', 'opsPerSecond'), 'operations/s'),
    reported('red-rate-durable', figure(red, 'durable', 'opsPerSecond'), 'operations/s'),
    reported('red-rate-durable-tuned', figure(red, 'durable, tuned', 'opsPerSecond'), 'operations/s'),
    reported('cpu-per-blue-us', figure(set(NAMED), 'ephemeral', 'serverUsPerOp'), 'us'),
    reported('three-sites-vs-one', ratioOf(set(NAMED), 'three sites', 'ephemeral')),
  ];
}

function plot(measured: readonly Measurement[]): string {
  const ranges = PAIRS.flatMap(({ of, tuned, to, aims }) =>
    WINDOWS.flatMap((window) => {
      const ratio = (name: Name): Spread => ratioRange(samplesOf(measured, 'set', window), name, to);
      return [
        { label: `${of} ÷ ${to}, window ${window}`, ...ratio(of), aim: aims[window] },
        { label: `${tuned}, window ${window}`, ...ratio(tuned) },
      ];
    }),
  );
  return rangesFigure(
    'Blue updates a second beside Redis through ioredis, one client process each',
    'ratio (median and range of the rounds; red: the aim)',
    ranges,
  );
}
