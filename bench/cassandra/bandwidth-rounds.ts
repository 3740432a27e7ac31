/** All kinds of requests in all cells, round by round, and as many again while what is held to a goal is undecided. */
import { rotate } from '../harness/rotate.ts';
import { runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { computeGoalResults, KINDS, rowOf, type Cell, type Sample } from './bandwidth-cells.ts';

/** How many rounds. */
export type Extent = Pick<Course<Sample>, 'rounds' | 'looks'>;

/** How they are measured. */
export interface Measuring extends Extent {
  readonly measure: (
    item: Omit<Sample, 'bytesPerOp' | 'divergence'>,
  ) => Promise<Pick<Sample, 'bytesPerOp' | 'divergence'>>;
  readonly progress: (cell: Cell, text: string) => void;
}

/** Every round begins with another one. */
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
  const barsSoFar = (rounds: readonly (readonly Sample[])[]): ReturnType<typeof computeGoalResults> =>
    computeGoalResults(cells.map((cell) => rowOf(cell, rounds.flat())));
  return runAdaptiveRounds(contest, { ...extent, computeGoalResults: barsSoFar });
}
