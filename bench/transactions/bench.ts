/**
 * Compares the cost of a transaction with that of a hand-written operation with the same effect.
 * Also measures how much sooner its result is shown than it is committed.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { median, rounded } from '../harness/statistics.ts';
import { serverFlags } from '../load/processes.ts';
import { rowOf } from '../load/rounds.ts';
import { measureCost } from './cost.ts';
import { measureFirstViews } from './first-views.ts';
import { computeGoalResults } from './goals.ts';
import { STANDS, tripsMs, type FirstView } from './stands.ts';

export const transactions: Bench = {
  name: 'transactions',
  about:
    'a transaction of two keys beside one hand-written red operation, and its first view beside its final one',
  run,
};

async function run(settings: Settings): Promise<Outcome> {
  const costs = await measureCost(settings);
  const views = await measureFirstViews(settings);
  return {
    rounds: views.length,
    rows: [...[...costs].map(([way, list]) => ({ way, ...rowOf(list) })), ...summarizeViews(views)],
    bars: computeGoalResults({ costs, views }),
    samples: { costs: Object.fromEntries(costs), views },
    versions: versionsOf('ws'),
    flags: serverFlags(),
  };
}

/** Returns a row for each place of a client. */
function summarizeViews(
  rounds: readonly (readonly FirstView[])[],
): Readonly<Record<string, unknown>>[] {
  return STANDS.map((stand, at) => {
    const views = rounds.map((round) => round[at] as FirstView);
    const middle = (of: 'firstMs' | 'finalMs'): number =>
      rounded(median(views.map((view) => view[of])));
    const trips = tripsMs(stand);
    return {
      ...stand,
      firstP50Ms: middle('firstMs'),
      finalP50Ms: middle('finalMs'),
      firstTripsMs: trips.firstMs,
      finalTripsMs: trips.finalMs,
      transactions: views.reduce((sum, view) => sum + view.transactions, 0),
    };
  });
}
