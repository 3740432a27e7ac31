/** Runs contestants against each other, all in every round. */
import { interleave } from '../harness/interleave.ts';
import { median, pairedRatios, rounded, spread } from '../harness/statistics.ts';
import { estimate, type Estimate } from '../harness/goals.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { Contestant, Measured, Order } from './processes.ts';

/** The number of rounds that do not count. One suffices, because each run has its own warm-up. */
const WARM_UPS = 1;

/** The number of rounds, and the order of each. */
export interface Rounds extends Order {
  readonly rounds: number;
  /** Starts of all processes before this one, each with as many rounds. Default: none */
  readonly startsBefore?: number;
  readonly progress: (text: string) => void;
}

/** The measurements by contender, one for each round. */
export type Samples<N extends string> = ReadonlyMap<N, readonly Measured[]>;

/** Measures all contestants, interleaved. */
export async function measureRounds<N extends string>(
  contestants: ReadonlyMap<N, Contestant>,
  { rounds, startsBefore = 0, progress, ...order }: Rounds,
): Promise<Samples<N>> {
  const measured = new Map<N, Measured[]>([...contestants.keys()].map((name) => [name, []]));
  const contenders = [...contestants].map(([name, contestant]) => ({
    name,
    async measure() {
      const item = await contestant.run(order);
      measured.get(name)?.push(item);
      return item.opsPerSecond;
    },
  }));
  const before = { starts: startsBefore, rounds: startsBefore * rounds };
  await interleave(contenders, { rounds, before, warmUps: WARM_UPS, progress });
  for (const list of measured.values()) list.splice(0, WARM_UPS);
  return measured;
}

/**
 * Returns the throughput of `of` as a multiple of that of `to` in the same round, with its
 * interval.
 */
export function ratioOf<N extends string>(samples: Samples<N>, of: N, to: N): Estimate {
  return figureRatioOf(samples, { of, to }, 'opsPerSecond');
}

/** Returns a figure of `of` as a multiple of that of `to` in the same round. */
export function figureRatioOf<N extends string>(
  samples: Samples<N>,
  { of, to }: { readonly of: N; readonly to: N },
  figure: keyof Measured,
): Estimate {
  const baseline = samples.get(to) ?? [];
  const ratio = (item: Measured, round: number): number =>
    (item[figure] ?? NaN) / (baseline[round]?.[figure] ?? NaN);
  return estimateOf(samples.get(of) ?? [], ratio);
}

/** Returns a figure of one contender. */
export function figureOf(list: readonly Measured[], figure: keyof Measured): Estimate {
  return estimateOf(list, (item) => item[figure] ?? NaN);
}

/** Rounds of one start are not independent, so each start counts once, by its median. */
function estimateOf(
  list: readonly Measured[],
  valueOf: (item: Measured, round: number) => number,
): Estimate {
  const byStart = new Map<number, number[]>();
  for (const [round, element] of list.entries()) {
    const values = byStart.get(element.start ?? round) ?? [];
    byStart.set(element.start ?? round, [...values, valueOf(element, round)]);
  }
  return estimate([...byStart.values()].map(median), LOOKS);
}

/** Returns that ratio in each round. */
export function ratiosOf<N extends string>(
  samples: ReadonlyMap<N, readonly Pick<Measured, 'opsPerSecond'>[]>,
  of: N,
  to: N,
): number[] {
  const ops = (name: N): number[] => (samples.get(name) ?? []).map((item) => item.opsPerSecond);
  return pairedRatios(ops(of), ops(to));
}

/** Returns the median of a figure over the rounds. */
export function middleOf(list: readonly Measured[], figure: keyof Measured): number | null {
  const values = list.flatMap((item) => item[figure] ?? []);
  return values.length === 0 ? null : rounded(spread(values).median);
}

/** Returns one row of the report. */
export function rowOf(list: readonly Measured[]): Record<string, number | null> {
  const ops = spread(list.map((item) => item.opsPerSecond));
  return {
    opsPerSecond: Math.round(ops.median),
    opsMin: Math.round(ops.min),
    opsMax: Math.round(ops.max),
    clientUsPerOp: middleOf(list, 'clientUsPerOp'),
    serverUsPerOp: middleOf(list, 'serverUsPerOp'),
    serverCores: middleOf(list, 'serverCores'),
    p50Ms: middleOf(list, 'p50Ms'),
    p99Ms: middleOf(list, 'p99Ms'),
    p999Ms: middleOf(list, 'p999Ms'),
  };
}
