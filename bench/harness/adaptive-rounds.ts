/** How many rounds: some, and as many again while a figure with a goal is undecided. */
import { isUndecided, type GoalResult } from './goals.ts';

/**
 * How often the rounds are looked at: after the first of them, and after as many again. Estimates state that number,
 * since two looks are wrong twice as often.
 */
export const LOOKS = 2;

/** How far to go. */
export interface Course<R> {
  /** Before the first look, and between any two. */
  readonly rounds: number;
  /** At most so many times `rounds`; `LOOKS` unless given, and never more. */
  readonly looks?: 1 | typeof LOOKS;
  /** What is held to goals, as far as it is known. */
  readonly computeGoalResults: (soFar: readonly R[]) => readonly GoalResult[];
}

/**
 * What each round came to.
 *
 * @param run one round, counted from 0; `of`: as in `round 3 of 7`, for a person
 */
export async function runAdaptiveRounds<R>(
  run: (round: number, of: string) => Promise<R>,
  { rounds, looks = LOOKS, computeGoalResults }: Course<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (let look = 1; look <= looks; look += 1) {
    const most = look === 1 ? `${rounds}` : `at most ${looks * rounds}, until it is decided`;
    while (done.length < look * rounds) done.push(await run(done.length, `round ${done.length + 1} of ${most}`));
    if (!computeGoalResults(done).some(isUndecided)) break;
  }
  return done;
}
