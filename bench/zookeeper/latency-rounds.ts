/**
 * All placements, round by round, and as many again while it is undecided whether a preliminary view takes a round trip, where
 * that is the worst.
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

/** On top of the round trip: 15 % and a millisecond. */
const AIM = 1.15;
const ALLOWANCE_MS = 1;

/** How much is measured. */
export interface Extent extends Pick<Course<Round>, 'rounds' | 'looks'> {
  /** Enqueues of each kind in a round. */
  readonly operations: number;
}

/** Times so many enqueues of each kind at one placement. */
export interface Timed {
  /** What the way to its server and back takes by itself. */
  readonly awayMs: number;
  measure(operations: number): Promise<Round>;
}

/**
 * The rounds of each placement; every round begins with another one.
 *
 * @throws Error where enqueues lack preliminary views, or a server answers sooner than the way takes
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
      checkViews(`placement ${at + 1}`, { views: item.preliminaryViews * operations, of: operations });
      checkDelay(`placement ${at + 1}, round trip`, { ms: item.roundTripMs, atLeastMs: placement.awayMs });
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

/** How long a preliminary view takes, beyond what is allowed, as a multiple of the round trip. */
export function preliminaryVsRoundTrip({ preliminaryMs, roundTripMs }: Round): number {
  return (preliminaryMs - ALLOWANCE_MS) / Math.max(roundTripMs, 1);
}

/** By placement: the worst of them counts. */
export function computeGoalResults(byPlacement: readonly (readonly Round[])[]): GoalResult[] {
  const item = byPlacement.map((rounds) => estimate(rounds.map(preliminaryVsRoundTrip), LOOKS));
  return [limitTime('prelim-vs-rtt', largest(item), { aim: AIM })];
}
