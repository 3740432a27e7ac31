/**
 * Measures all kinds of requests in all cells, round by round, and in again as many rounds while a
 * goal is undecided.
 */
import { rotate } from '../harness/rotate.ts';
import { runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { computeGoalResults, KINDS, rowOf, type Cell, type Sample } from './bandwidth-cells.ts';

/** How many rounds. */
export type Extent = Pick<Course<Sample>, 'rounds' | 'looks'>;

/** How the rounds are measured. */
export interface Measuring extends Extent {
  readonly measure: (
    item: Omit<Sample, 'bytesPerOp' | 'divergence'>,
  ) => Promise<Pick<Sample, 'bytesPerOp' | 'divergence'>>;
  readonly progress: (cell: Cell, text: string) => void;
}

/** Measures the rounds. Each round begins with another kind of request. */
export function measureRounds(
  cells: readonly Cell[],
  { measure, progress, ...extent }: Measuring,
): Promise<readonly (readonly Sample[])[]> {
  const contests = cells.flatMap((cell) => KINDS.map((kind) => ({ ...cell, kind })));
  const contest = async (round: number, of: string): Promise<readonly Sample[]> => {
    const samples: Sample[] = [];
    for (const item of rotate(contests, round)) {
      progress(item, `${of}, ${item.kind}`);
      samples.push({ ...item, round, ...(await measure({ ...item, round })) });
    }
    return samples;
  };
  const barsSoFar = (
    rounds: readonly (readonly Sample[])[],
  ): ReturnType<typeof computeGoalResults> =>
    computeGoalResults(cells.map((cell) => rowOf(cell, rounds.flat())));
  return runAdaptiveRounds(contest, { ...extent, computeGoalResults: barsSoFar });
}
