/**
 * Measures systems one after the other at the loads where they peak, in pairs, and in again as many
 * pairs while the loss of throughput is undecided.
 */
import type { Settings } from '../harness/bench.ts';
import { runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import {
  computeGoalResults,
  CLIENTS,
  comparedAt,
  dropOf,
  type Measured,
  type Sample,
} from './load-drops.ts';
import type { System } from './messages.ts';

/** The systems whose throughput is compared in every round of pairs. */
export const PAIR = ['C2', 'CC2', 'driver C2'] as const satisfies readonly System[];

/** One system under one load, in one round. */
export type Cell = Pick<Sample, 'workload' | 'system' | 'inFlight' | 'round'>;

/** How many rounds of pairs. */
export type Extent = Pick<Course<Sample>, 'rounds' | 'looks'>;

/** How the pairs are measured. */
export interface Comparing extends Extent {
  readonly measure: (cell: Cell) => Promise<Sample>;
  readonly progress: Settings['progress'];
}

/** Measures the systems at the same loads repeatedly, each time in another order. */
export async function comparePairs(
  { workload, sweep }: Omit<Measured, 'pairs'>,
  { measure, progress, ...extent }: Comparing,
): Promise<readonly Sample[]> {
  const loads = comparedAt(sweep);
  const cells = loads.flatMap((inFlight) => PAIR.map((system) => ({ workload, system, inFlight })));
  const compare = async (round: number, of: string): Promise<readonly Sample[]> => {
    progress(`pairs, ${of}, at ${loads.join(', ')} requests a client`);
    const samples: Sample[] = [];
    const order = round % 2 === 0 ? cells : cells.toReversed();
    for (const cell of order) samples.push(await measure({ ...cell, round }));
    return samples;
  };
  const barsSoFar = (
    rounds: readonly (readonly Sample[])[],
  ): ReturnType<typeof computeGoalResults> =>
    CLIENTS.flatMap((clients) =>
      computeGoalResults(dropOf({ workload, sweep, pairs: rounds.flat() }, clients)),
    );
  return (await runAdaptiveRounds(compare, { ...extent, computeGoalResults: barsSoFar })).flat();
}
