/**
 * Compares the cost of a Correctable with that of a Promise and of RxJS, using the published build.
 * `--beside DIR` measures the Correctables of another checkout in the same rounds.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { checkCheckout, describeCheckout, findScript } from '../harness/checkouts.ts';
import {
  limitTime,
  estimate,
  isUndecided,
  reported,
  type GoalResult,
  type Goals,
} from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { interleave, type Contender } from '../harness/interleave.ts';
import { versionsOf } from '../harness/provenance.ts';
import { median, pairedRatios, rounded, spread } from '../harness/statistics.ts';
import type * as Contenders from './contenders.ts';
import {
  awaited,
  callbacks,
  drive,
  invokeMemory,
  invokeRxjs,
  promise,
  promiseAwaited,
  rxjs,
  rxjsAwaited,
  rxjsCheapest,
  rxjsObservable,
  speculateHit,
  valuesOf,
} from './contenders.ts';

/** The goals of each way, as a multiple of a Promise that is awaited in the same way. */
const GOALS: Readonly<Record<string, Goals>> = {
  callbacks: { floor: 2.5, aim: 1.5 },
  awaited: { floor: 4, aim: 2.5 },
  invoke: { floor: 4, aim: 2.5 },
  'speculate-hit': { aim: 4 },
  'callbacks, objects': { floor: 2, aim: 1.5 },
  'awaited, objects': { floor: 3, aim: 2 },
  'invoke, objects': { floor: 2.6, aim: 2 },
};
/**
 * The same work in RxJS, in the idioms that cost least there. The cheapest one of each round is the
 * baseline.
 */
const RXJS: Readonly<Record<string, readonly string[]>> = {
  callbacks: ['rxjs, cheapest', 'rxjs, observable'],
  awaited: ['rxjs', 'rxjs, awaited'],
  invoke: ['rxjs, invoke'],
};
/** No slower than RxJS, and better in half the time. */
const RXJS_GOALS: Goals = { floor: 1, aim: 0.5 };
/** How often the results are checked for a decision. */
const LOOKS = 3;
/** The goal for the memory of one pending result, for which callbacks or an `await` wait. */
const PENDING_BYTES = 450;
const PENDING = ['callbacks', 'awaited'] as const;

export const core: Bench = {
  name: 'core',
  about: 'a Correctable beside a Promise and RxJS: time and memory per operation',
  takes: ['beside'],
  run,
};

/**
 * With a thousand results in flight, V8 sometimes decides that the objects of one contender are
 * long-lived, and allocates them in the old generation from then on. That contender is then three
 * times as slow until the next full garbage collection.
 */
const EVEN_FLAGS = '--no-allocation-site-pretenuring';

type Samples = ReadonlyMap<string, readonly number[]>;

/** Returns the systems under test. Each runs `operations` operations. */
export function contendersOf(operations: number): readonly Contender[] {
  const strings = valuesOf('string');
  const objects = valuesOf('object');
  const shared = valuesOf('shared object');
  return [
    { name: 'promise', measure: () => drive(promise(), strings, operations) },
    { name: 'promise, awaited', measure: () => drive(promiseAwaited(), strings, operations) },
    { name: 'callbacks', measure: () => drive(callbacks(), strings, operations) },
    { name: 'callbacks, objects', measure: () => drive(callbacks(), objects, operations) },
    { name: 'callbacks, shared objects', measure: () => drive(callbacks(), shared, operations) },
    { name: 'awaited', measure: () => drive(awaited(), strings, operations) },
    { name: 'awaited, objects', measure: () => drive(awaited(), objects, operations) },
    { name: 'awaited, shared objects', measure: () => drive(awaited(), shared, operations) },
    { name: 'invoke', measure: () => invokeMemory('string', operations) },
    { name: 'invoke, objects', measure: () => invokeMemory('object', operations) },
    { name: 'invoke, shared objects', measure: () => invokeMemory('shared object', operations) },
    { name: 'speculate-hit', measure: () => drive(speculateHit(), strings, operations) },
    { name: 'rxjs', measure: () => drive(rxjs(), strings, operations) },
    { name: 'rxjs, cheapest', measure: () => drive(rxjsCheapest(), strings, operations) },
    { name: 'rxjs, observable', measure: () => drive(rxjsObservable(), strings, operations) },
    { name: 'rxjs, awaited', measure: () => drive(rxjsAwaited(), strings, operations) },
    { name: 'rxjs, invoke', measure: () => invokeRxjs(operations) },
  ];
}

/** Returns the ways of another checkout that are compared. */
async function contendersIn(checkout: string, operations: number): Promise<readonly Contender[]> {
  const other = (await import(
    findScript('bench/core/contenders.ts', checkout).href
  )) as typeof Contenders;
  const strings = other.valuesOf('string');
  return [
    { name: 'other callbacks', measure: () => other.drive(other.callbacks(), strings, operations) },
    { name: 'other awaited', measure: () => other.drive(other.awaited(), strings, operations) },
    { name: 'other invoke', measure: () => other.invokeMemory('string', operations) },
  ];
}

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside !== undefined) checkCheckout(beside);
  setFlagsFromString(EVEN_FLAGS);
  const operations = quick ? 40_000 : 200_000;
  const others = beside === undefined ? [] : await contendersIn(beside, operations);
  const contenders = [...contendersOf(operations), ...others];
  const rounds = quick ? 5 : 11;
  const samples = await interleave(contenders, {
    rounds,
    warmUps: 2,
    roundsMax: quick ? rounds : LOOKS * rounds,
    isDecided: (soFar) => !computeGoalResults(soFar).some(isUndecided),
    progress,
  });
  progress('memory of pending results');
  const bytes = await pendingBytes(quick ? 1 : 3);

  const rows = contenders.map(({ name }) => {
    const times = samples.get(name) as number[];
    const ratios = spread(ratiosOf(samples, name));
    const { median: ns, min, max } = spread(times);
    return {
      contender: name,
      nsPerOp: Math.round(ns),
      nsMin: Math.round(min),
      nsMax: Math.round(max),
      vsPromise: rounded(ratios.median),
      vsPromiseMin: rounded(ratios.min),
      vsPromiseMax: rounded(ratios.max),
      pendingBytes: bytes.get(name) ?? null,
    };
  });
  return {
    rounds: samples.get('promise')?.length ?? 0,
    rows,
    bars: [...computeGoalResults(samples), ...pendingBars(bytes)],
    versions: { ...versionsOf('rxjs'), ...describeCheckout(beside) },
    flags: [EVEN_FLAGS],
    samples: { nsPerOp: Object.fromEntries(samples) },
  };
}

/** Computes the goals of all measured contenders. */
export function computeGoalResults(samples: Samples): GoalResult[] {
  const names = [...samples.keys()].filter(
    (name) => name !== 'promise' && !name.startsWith('other '),
  );
  return [
    ...names.map((name) => barOf(name, ratiosOf(samples, name))),
    ...rxjsBarsOf(samples),
    ...otherBarsOf(samples),
  ];
}

/** Compares with the same way of another checkout, if it was measured. */
function otherBarsOf(samples: Samples): GoalResult[] {
  return [...samples].flatMap(([name, times]) => {
    const other = samples.get(`other ${name}`);
    if (other === undefined) return [];
    return [reported(`${name}-vs-other`, estimate(pairedRatios(times, other), LOOKS))];
  });
}

/** Compares with the cheapest RxJS variant of each round, if it was measured. */
function rxjsBarsOf(samples: Samples): GoalResult[] {
  return Object.entries(RXJS).flatMap(([name, idioms]) => {
    const times = idioms.map((idiom) => samples.get(idiom) ?? []);
    if (times.some(({ length }) => length === 0)) return [];
    const cheapest = times[0]!.map((_, round) => Math.min(...times.map((item) => item[round]!)));
    return [
      limitTime(
        `${name}-vs-rxjs`,
        estimate(pairedRatios(samples.get(name) ?? [], cheapest), LOOKS),
        RXJS_GOALS,
      ),
    ];
  });
}

/** Compares with a Promise that is awaited in the same way. */
function ratiosOf(samples: Samples, name: string): number[] {
  const baseline = name.startsWith('awaited') ? 'promise, awaited' : 'promise';
  return pairedRatios(samples.get(name) ?? [], samples.get(baseline) ?? []);
}

/** Returns the bars of the memory of pending results, by contender. */
export function pendingBars(bytes: ReadonlyMap<string, number>): GoalResult[] {
  return PENDING.map((name) =>
    limitTime(`pending-bytes-${name}`, bytes.get(name) ?? NaN, { aim: PENDING_BYTES }, 'bytes'),
  );
}

/** `callbacks, shared objects` is the bar `callbacks-shared-objects-vs-promise`. */
export function barOf(contender: string, ratios: readonly number[]): GoalResult {
  const name = `${contender.replaceAll(/,? /g, '-')}-vs-promise`;
  const goals = GOALS[contender];
  const figure = estimate(ratios, LOOKS);
  return goals === undefined ? reported(name, figure) : limitTime(name, figure, goals);
}

/** Returns the bytes of one pending result of each way: the median of `times` processes. */
async function pendingBytes(times: number): Promise<ReadonlyMap<string, number>> {
  const script = fileURLToPath(new URL('pending.ts', import.meta.url));
  const bytes = new Map<string, number>();
  for (const name of ['promise', ...PENDING, 'rxjs']) {
    const samples: number[] = [];
    for (let n = 0; n < times; n += 1) {
      const args = ['--expose-gc', '--import', 'tsx', script, name];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      samples.push(Number(stdout));
    }
    bytes.set(name, median(samples));
  }
  return bytes;
}
