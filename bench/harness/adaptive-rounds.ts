/**
 * Determines the number of rounds: some, and again as many while a figure with a goal is undecided.
 */
import { isUndecided, type GoalResult } from './goals.ts';

/**
 * How often the results are checked for a decision: after the first rounds, and after again as
 * many. Estimates take this number into account, because two checks are wrong twice as often as
 * one.
 */
export const LOOKS = 2;

/** When to stop, and how to decide. */
export interface Course<R> {
  /** The number of rounds before each check. */
  readonly rounds: number;
  /** The maximum number of checks. Default: `LOOKS`, which is also the maximum */
  readonly looks?: 1 | typeof LOOKS;
  /** Computes the figures with goals from the rounds so far. */
  readonly computeGoalResults: (soFar: readonly R[]) => readonly GoalResult[];
}

/**
 * Runs the rounds and returns their results.
 *
 * @param run runs one round, counted from 0; `of` is its number in messages, for example `round 3
 * of 7`
 */
export async function runAdaptiveRounds<R>(
  run: (round: number, of: string) => Promise<R>,
  { rounds, looks = LOOKS, computeGoalResults }: Course<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (let look = 1; look <= looks; look += 1) {
    const most = look === 1 ? `${rounds}` : `at most ${looks * rounds}, until it is decided`;
    while (done.length < look * rounds)
      done.push(await run(done.length, `round ${done.length + 1} of ${most}`));
    if (!computeGoalResults(done).some(isUndecided)) break;
  }
  return done;
}
