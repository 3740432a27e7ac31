/**
 * Figures with goals, and their verdicts. A verdict depends on the confidence interval of a figure,
 * not on its median.
 */
import { median, medianInterval, rounded, samplesMin } from './statistics.ts';

/** The verdict on a figure with a goal, with 95 % confidence. */
export type Verdict =
  /** It reaches the aim, or the floor if there is no aim. */
  | 'met'
  /** It reaches the floor. It does not reach the aim, or that is unknown. */
  | 'held'
  /** Unknown: more rounds may decide it. */
  | 'undecided'
  /** It does not reach the floor, or the aim if there is no floor. Or nothing was measured. */
  | 'missed';

/** A measured figure: its median, and the interval of the true median with 95 % confidence. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The number of measurements; null if the figure was counted, and so is exact. */
  readonly samples: number | null;
  /** How often the samples are checked for a decision. Default: 1 */
  readonly looks?: number;
}

/** A figure and its goals, which are never changed to meet them. */
export interface GoalResult extends Omit<Estimate, 'looks'> {
  readonly name: string;
  /** `ratio`, `fraction`, `bytes`, `ms`… */
  readonly unit: string;
  /**
   * The value that must be reached; null if there is none. If it is missed, the exit code of the
   * benchmark is 1.
   */
  readonly floor: number | null;
  /** The value to aim for; null if there is none. */
  readonly aim: number | null;
  /** The verdict; null if there is no goal. */
  readonly verdict: Verdict | null;
}

/** The goals of a figure. */
export interface Goals {
  readonly floor?: number;
  readonly aim?: number;
}

/**
 * The median of the rounds, to four digits. `looks`: how often the result is checked for whether
 * that is enough. Returns `NaN` if one of the samples is `NaN`: a system that did nothing in a
 * round has no median.
 */
export function estimate(samples: readonly number[], looks = 1): Estimate {
  const taken = { samples: samples.length, looks };
  if (!samples.every(Number.isFinite)) return { value: NaN, low: NaN, high: NaN, ...taken };
  const { low, high } = medianInterval(samples, looks);
  return { value: rounded(median(samples)), low: rounded(low), high: rounded(high), ...taken };
}

/**
 * Returns the smallest of several estimates that all have to reach a goal. Its interval reaches
 * down to the lowest bound of them.
 */
export function least(estimates: readonly Estimate[]): Estimate {
  return extreme(estimates, Math.min);
}

/**
 * Returns the largest of several estimates of which none may exceed a goal. Its interval reaches up
 * to the highest bound of them.
 */
export function largest(estimates: readonly Estimate[]): Estimate {
  return extreme(estimates, Math.max);
}

function extreme(
  estimates: readonly Estimate[],
  choose: (...values: number[]) => number,
): Estimate {
  const of = (item: (estimate: Estimate) => number): number => choose(...estimates.map(item));
  const samples = Math.min(...estimates.map((item) => item.samples ?? Infinity));
  return {
    value: of(({ value }) => value),
    low: of(({ low }) => low),
    high: of(({ high }) => high),
    samples: samples === Infinity ? null : samples,
    looks: Math.max(1, ...estimates.map(({ looks = 1 }) => looks)),
  };
}

/** A figure, measured or counted, that must not exceed its goals. */
export function limitTime(
  name: string,
  figure: Estimate | number,
  goals: Goals,
  unit = 'ratio',
): GoalResult {
  const { low, high } = estimated(figure);
  return barOf(name, figure, goals, {
    unit,
    reaches: (goal) => high <= goal,
    misses: (goal) => low > goal,
  });
}

/** A figure, measured or counted, that must reach its goals. */
export function atLeast(
  name: string,
  figure: Estimate | number,
  goals: Goals,
  unit = 'ratio',
): GoalResult {
  const { low, high } = estimated(figure);
  return barOf(name, figure, goals, {
    unit,
    reaches: (goal) => low >= goal,
    misses: (goal) => high < goal,
  });
}

/** A figure that is reported without a goal. */
export function reported(name: string, figure: Estimate | number, unit = 'ratio'): GoalResult {
  const { value, low, high, samples } = estimated(figure);
  return { name, value, low, high, samples, unit, floor: null, aim: null, verdict: null };
}

/** Returns whether more rounds could decide the figure. */
export function isUndecided({ verdict }: GoalResult): boolean {
  return verdict === 'undecided';
}

/** Returns whether the figure certainly misses its floor. */
export function isBroken({ floor, verdict }: GoalResult): boolean {
  return floor !== null && verdict === 'missed';
}

interface Measure {
  readonly unit: string;
  /** Whether the whole interval is on the right side of a goal. */
  reaches(goal: number): boolean;
  /** Whether the whole interval is on the wrong side of a goal. */
  misses(goal: number): boolean;
}

function barOf(
  name: string,
  figure: Estimate | number,
  goals: Goals,
  measure: Measure,
): GoalResult {
  const { floor = null, aim = null } = goals;
  const known = estimated(figure);
  const { value, low, high, samples } = known;
  return {
    name,
    value,
    low,
    high,
    samples,
    unit: measure.unit,
    floor,
    aim,
    verdict: judged(known, goals, measure),
  };
}

function judged(
  { value, low, high, samples, looks }: Estimate,
  goals: Goals,
  measure: Measure,
): Verdict | null {
  // The largest or smallest of no values is infinite, which would reach any goal.
  if (![value, low, high].every(Number.isFinite)) return 'missed';
  // Fewer samples never give an interval with this confidence, so they decide nothing.
  return samples === null || samples >= samplesMin(looks)
    ? createVerdict(goals, measure)
    : 'undecided';
}

function createVerdict({ floor, aim }: Goals, { reaches, misses }: Measure): Verdict | null {
  const least = floor ?? aim;
  const most = aim ?? floor;
  if (least === undefined || most === undefined) return null;
  if (reaches(most)) return 'met';
  if (misses(least)) return 'missed';
  return floor !== undefined && reaches(floor) ? 'held' : 'undecided';
}

function estimated(figure: Estimate | number): Estimate {
  return typeof figure === 'number'
    ? { value: figure, low: figure, high: figure, samples: null }
    : figure;
}
