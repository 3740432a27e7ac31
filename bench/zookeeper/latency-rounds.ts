/**
 * All placements, round by round, and as many again while it is undecided whether a preliminary view takes a round trip, where
 * that is the worst.
 */
import { atMost, estimate, largest, type Bar } from '../harness/bars.ts';
import type { Settings } from '../harness/bench.ts';
import { rotated } from '../harness/rotated.ts';
import { LOOKS, untilDecided, type Course } from '../harness/until-decided.ts';
import { checkDelay, checkViews } from '../harness/what-is-there.ts';

/** Mean milliseconds, preliminary views and bytes of one round. */
export interface Round {
  readonly roundTripMs: number;
  readonly plainMs: number;
  readonly preliminaryMs: number;
  readonly finalMs: number;
  readonly preliminaryViews: number;
  readonly plainBytes: number;
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
    for (const [at, placement] of rotated([...placements.entries()], round)) {
      const one = await placement.measure(operations);
      checkViews(`placement ${at + 1}`, { views: one.preliminaryViews * operations, of: operations });
      checkDelay(`placement ${at + 1}, round trip`, { ms: one.roundTripMs, atLeastMs: placement.awayMs });
      measured[at] = one;
    }
    return measured;
  };
  const rounds = await untilDecided(measure, { ...course, barsOf: (soFar) => barsOf(byPlacement(soFar)) });
  return byPlacement(rounds);
}

/** How long a preliminary view takes, beyond what is allowed, as a multiple of the round trip. */
export function preliminaryVsRoundTrip({ preliminaryMs, roundTripMs }: Round): number {
  return (preliminaryMs - ALLOWANCE_MS) / Math.max(roundTripMs, 1);
}

/** By placement: the worst of them counts. */
export function barsOf(byPlacement: readonly (readonly Round[])[]): Bar[] {
  const each = byPlacement.map((rounds) => estimate(rounds.map(preliminaryVsRoundTrip), LOOKS));
  return [atMost('prelim-vs-rtt', largest(each), { aim: AIM })];
}
