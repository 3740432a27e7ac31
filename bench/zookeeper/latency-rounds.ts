/**
 * Measures all placements, round by round, and in again as many rounds while it is undecided
 * whether a preliminary view takes one round trip at the worst placement.
 */
import { limitTime, estimate, largest, type GoalResult } from '../harness/goals.ts';
import type { Settings } from '../harness/bench.ts';
import { rotate } from '../harness/rotate.ts';
import { LOOKS, runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { checkDelay, checkViews } from '../harness/preconditions.ts';

/** Mean milliseconds, preliminary views and bytes of one round. */
export interface Round {
  readonly roundTripMs: number;
  readonly plainMs: number;
  readonly preliminaryMs: number;
  readonly finalMs: number;
  readonly preliminaryViews: number;
  readonly measurePlainData: number;
  readonly bytes: number;
}

/** The goal: the round trip plus 15 % and a millisecond. */
const AIM = 1.15;
const ALLOWANCE_MS = 1;

/** How much is measured. */
export interface Extent extends Pick<Course<Round>, 'rounds' | 'looks'> {
  /** Enqueues of each kind in a round. */
  readonly operations: number;
}

/** Times so many enqueues of each kind at one placement. */
export interface Timed {
  /** The configured round trip to its server. */
  readonly awayMs: number;
  measure(operations: number): Promise<Round>;
}

/**
 * Measures the rounds of each placement. Every round begins with another placement.
 *
 * @throws Error if enqueues lack preliminary views, or a server answers sooner than its round trip
 */
export async function measureRounds(
  placements: readonly Timed[],
  { operations, ...course }: Extent,
  progress: Settings['progress'],
): Promise<readonly (readonly Round[])[]> {
  const byPlacement = (rounds: readonly (readonly Round[])[]): Round[][] =>
    placements.map((_, at) => rounds.map((round) => round[at] as Round));
  const measure = async (round: number, of: string): Promise<readonly Round[]> => {
    progress(of);
    const measured: Round[] = [];
    for (const [at, placement] of rotate([...placements.entries()], round)) {
      const item = await placement.measure(operations);
      checkViews(`placement ${at + 1}`, {
        views: item.preliminaryViews * operations,
        of: operations,
      });
      checkDelay(`placement ${at + 1}, round trip`, {
        ms: item.roundTripMs,
        atLeastMs: placement.awayMs,
      });
      measured[at] = item;
    }
    return measured;
  };
  const rounds = await runAdaptiveRounds(measure, {
    ...course,
    computeGoalResults: (soFar) => computeGoalResults(byPlacement(soFar)),
  });
  return byPlacement(rounds);
}

/**
 * Returns how long a preliminary view takes as a multiple of the round trip, after the allowed
 * millisecond is subtracted.
 */
export function preliminaryVsRoundTrip({ preliminaryMs, roundTripMs }: Round): number {
  return (preliminaryMs - ALLOWANCE_MS) / Math.max(roundTripMs, 1);
}

/** Computes the goals from the rounds of each placement. The worst placement counts. */
export function computeGoalResults(byPlacement: readonly (readonly Round[])[]): GoalResult[] {
  const item = byPlacement.map((rounds) => estimate(rounds.map(preliminaryVsRoundTrip), LOOKS));
  return [limitTime('prelim-vs-rtt', largest(item), { aim: AIM })];
}
