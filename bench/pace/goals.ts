/** The verdicts of `pace`: which figures have changed from the other checkout to this one. */
import { isUndecided, limitTime, type Estimate, type GoalResult } from '../harness/goals.ts';
import { samplesMin } from '../harness/statistics.ts';

/** The processor time that a figure may have, as a multiple of that of the other checkout. */
export const LIMIT = 1.03;

/** A figure of this checkout, as a multiple of the same figure of the other one. */
export type Ratios = ReadonlyMap<string, Estimate>;

export function computeGoalResults(ratios: Ratios): GoalResult[] {
  return [...ratios].map(([name, ratio]) => limitTime(name, ratio, { floor: LIMIT }));
}

/** Returns whether more starts could change a verdict. */
export function isDecided(ratios: Ratios): boolean {
  return !computeGoalResults(ratios).some(isUndecided);
}

/** Names a change for a person. */
export function describeChange({ low, high, samples, looks }: Estimate): string {
  // Fewer starts never give an interval with 95 % confidence.
  if (samples === null || samples < samplesMin(looks)) return 'undecided';
  if (low > LIMIT) return 'slower';
  if (high < 1 / LIMIT) return 'faster';
  return low >= 1 / LIMIT && high <= LIMIT ? 'unchanged' : 'undecided';
}
