/** The goals of transactions. */
import { LOOKS } from '../harness/adaptive-rounds.ts';
import { estimate, limitTime, reported, type Estimate, type GoalResult } from '../harness/goals.ts';
import { figureRatioOf, ratioOf, type Samples } from '../load/rounds.ts';
import type { FirstView, Stand } from './stands.ts';
import type { Way } from './messages.ts';

const COST_AIM = 1.3;
const FIRST_VIEW_AIM = 0.4;

/** The measurements of a run. */
export interface Measured {
  readonly costs: Samples<Way>;
  readonly views: readonly (readonly FirstView[])[];
}

export function computeGoalResults({ costs, views }: Measured): readonly GoalResult[] {
  return [...computeCostGoals(costs), ...computeFirstViewGoals(views)];
}

/** The measure is throughput, as for the goals of `redblue-overhead`. */
export function computeCostGoals(samples: Samples<Way>): readonly GoalResult[] {
  const pair = { of: 'transaction', to: 'red operation' } as const;
  return [
    limitTime('transaction-cost', ratioOf(samples, 'red operation', 'transaction'), {
      aim: COST_AIM,
    }),
    reported('transaction-server-time', figureRatioOf(samples, pair, 'serverUsPerOp')),
    reported('transaction-client-time', figureRatioOf(samples, pair, 'clientUsPerOp')),
    reported(
      'transaction-cost-vs-read-and-red',
      ratioOf(samples, 'read and red operation', 'transaction'),
    ),
  ];
}

export function computeFirstViewGoals(
  rounds: readonly (readonly FirstView[])[],
): readonly GoalResult[] {
  const ratio = (site: Stand['site'], awayMs = 0): Estimate =>
    estimate(
      rounds.flatMap((views) =>
        views
          .filter((view) => view.site === site && view.awayMs === awayMs)
          .map(({ firstMs, finalMs }) => firstMs / finalMs),
      ),
      LOOKS,
    );
  return [
    limitTime('first-view-vs-final', ratio('frankfurt'), { aim: FIRST_VIEW_AIM }),
    reported('first-view-vs-final-virginia', ratio('virginia')),
    reported('first-view-vs-final-ireland', ratio('ireland')),
    reported('first-view-vs-final-20-ms-away', ratio('frankfurt', 20)),
  ];
}
