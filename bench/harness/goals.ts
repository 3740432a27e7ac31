/** Figures with goals, and what can be said of them: not by their middle, but by where they surely are. */
import { median, medianInterval, rounded, samplesMin } from './statistics.ts';

/** What can be said of a figure with a goal, with 95 % confidence. */
export type Verdict =
  /** It reaches the aim; where there is none, the floor. */
  | 'met'
  /** It keeps to the floor; whether it reaches the aim is not known, or it does not. */
  | 'held'
  /** Not known: more rounds may tell. */
  | 'undecided'
  /** It does not keep to the floor; where there is none, it does not reach the aim. Or nothing was measured. */
  | 'missed';

/** A figure that was measured: its median, and between what the true one is, with 95 % confidence. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** How often it was measured; null where it was counted, and is as sure as it is. */
  readonly samples: number | null;
  /** How often it may be asked whether so many samples are enough: once unless given. */
  readonly looks?: number;
}

/** A figure and its goals, which are never changed to meet them. */
export interface GoalResult extends Omit<Estimate, 'looks'> {
  readonly name: string;
  /** `ratio`, `fraction`, `bytes`, `ms`… */
  readonly unit: string;
  /** What has to hold; null where there is none. A floor that is missed ends the benchmark with exit code 1. */
  readonly floor: number | null;
  /** What is worked for; null where there is none. */
  readonly aim: number | null;
  /** null where there is no goal. */
  readonly verdict: Verdict | null;
}

/** What a figure is held to. */
export interface Goals {
  readonly floor?: number;
  readonly aim?: number;
}

/**
 * The median of the rounds, to four digits. `looks`: how often the result is checked for whether that is enough. Not a
 * number if one of the samples is none: a system that did nothing in a round has no median.
 */
export function estimate(samples: readonly number[], looks = 1): Estimate {
  const taken = { samples: samples.length, looks };
  if (!samples.every(Number.isFinite)) return { value: NaN, low: NaN, high: NaN, ...taken };
  const { low, high } = medianInterval(samples, looks);
  return { value: rounded(median(samples)), low: rounded(low), high: rounded(high), ...taken };
}

/** The smallest of several, where all have to reach a goal: as low as any of them may be. */
export function least(estimates: readonly Estimate[]): Estimate {
  return extreme(estimates, Math.min);
}

/** The largest of several, where none must exceed a goal: as high as any of them may be. */
export function largest(estimates: readonly Estimate[]): Estimate {
  return extreme(estimates, Math.max);
}

function extreme(estimates: readonly Estimate[], choose: (...values: number[]) => number): Estimate {
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
export function limitTime(name: string, figure: Estimate | number, goals: Goals, unit = 'ratio'): GoalResult {
  const { low, high } = estimated(figure);
  return barOf(name, figure, goals, { unit, reaches: (goal) => high <= goal, misses: (goal) => low > goal });
}

/** A figure, measured or counted, that must reach its goals. */
export function atLeast(name: string, figure: Estimate | number, goals: Goals, unit = 'ratio'): GoalResult {
  const { low, high } = estimated(figure);
  return barOf(name, figure, goals, { unit, reaches: (goal) => low >= goal, misses: (goal) => high < goal });
}

/** A figure that is reported without a goal. */
export function reported(name: string, figure: Estimate | number, unit = 'ratio'): GoalResult {
  const { value, low, high, samples } = estimated(figure);
  return { name, value, low, high, samples, unit, floor: null, aim: null, verdict: null };
}

/** Whether more rounds could tell more. */
export function isUndecided({ verdict }: GoalResult): boolean {
  return verdict === 'undecided';
}

/** Whether what has to hold surely does not. */
export function isBroken({ floor, verdict }: GoalResult): boolean {
  return floor !== null && verdict === 'missed';
}

interface Measure {
  readonly unit: string;
  /** Whether the whole interval is on the right side of a goal. */
  reaches(goal: number): boolean;
  /** Whether it is on the wrong one. */
  misses(goal: number): boolean;
}

function barOf(name: string, figure: Estimate | number, goals: Goals, measure: Measure): GoalResult {
  const { floor = null, aim = null } = goals;
  const known = estimated(figure);
  const { value, low, high, samples } = known;
  return { name, value, low, high, samples, unit: measure.unit, floor, aim, verdict: judged(known, goals, measure) };
}

function judged({ value, low, high, samples, looks }: Estimate, goals: Goals, measure: Measure): Verdict | null {
  // The worst of nothing is infinite, on the right side of any goal.
  if (![value, low, high].every(Number.isFinite)) return 'missed';
  // Of fewer no interval is that sure, whatever their distribution: they decide nothing.
  return samples === null || samples >= samplesMin(looks) ? createVerdict(goals, measure) : 'undecided';
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
  return typeof figure === 'number' ? { value: figure, low: figure, high: figure, samples: null } : figure;
}
