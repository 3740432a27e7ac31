/** Whether the bars of a results file are what its samples give today. */
import { reEvaluateGoals } from '../../bench/re-evaluate.ts';
import { atLeast, limitTime, type GoalResult } from '../../bench/harness/goals.ts';
import { LOOKS } from '../../bench/harness/adaptive-rounds.ts';

/** What a results file has of a bar. */
export type Published = Omit<GoalResult, 'verdict'> & { readonly verdict?: GoalResult['verdict'] };

/** How often the others look; once unless it stands here. */
const LOOKS_OF: Readonly<Record<string, number>> = { 'redblue-latency': LOOKS };

/**
 * The bars that its samples do not give today, by name: another figure, another interval, another
 * verdict, or none of it. Where samples are too little to make the figure of, its interval has to
 * give the verdict, and as many of them as that takes.
 */
export function differingBars(
  file: string,
  samples: unknown,
  bars: readonly Published[],
): string[] {
  const again = reEvaluateGoals(file, samples);
  const isAsToday = (bar: Published): boolean => {
    const today = again.find(({ name }) => name === bar.name);
    return today === undefined ? isJudgedAsToday(bar, LOOKS_OF[file]) : isSame(bar, today);
  };
  const untold = again.filter(({ name }) => !bars.some((bar) => bar.name === name));
  return [...bars.filter((bar) => !isAsToday(bar)), ...untold].map(({ name }) => name);
}

function isSame(bar: Published, today: GoalResult): boolean {
  const of = ({ value, low, high, samples, verdict, floor, aim }: Published): string =>
    JSON.stringify([value, low, high, samples, verdict, floor, aim]);
  return of(bar) === of(today);
}

function isJudgedAsToday({ name, floor, aim, verdict, ...figure }: Published, looks = 1): boolean {
  const goals = { ...(floor !== null && { floor }), ...(aim !== null && { aim }) };
  return [limitTime, atLeast].some(
    (judge) => judge(name, { ...figure, looks }, goals).verdict === (verdict ?? null),
  );
}
