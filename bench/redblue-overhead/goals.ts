/** The goals of one site in comparison with a server that neither replicates nor certifies. */
import { atLeast, reported, type GoalResult, type Estimate } from '../harness/goals.ts';
import { figureRatioOf, ratioOf, type Samples } from '../load/rounds.ts';

/** `other site` is one of another checkout, if one was named. */
export type Name =
  | 'one site'
  | 'the same parts'
  | "a day's work"
  | 'one site, durable'
  | "a day's work, durable"
  | 'other site';

/** The workloads. Only the first has goals. The others show the causes of the cost. */
export const WORKLOADS = ['mix', 'read', 'deposit', 'withdraw'] as const;
export type Workload = (typeof WORKLOADS)[number];

const EPHEMERAL: readonly Name[] = ['one site', 'the same parts', "a day's work"];
const DURABLE: readonly Name[] = ['one site, durable', "a day's work, durable"];

/** The systems that each workload measures. */
export const NAMES_OF: Readonly<Record<Workload, readonly Name[]>> = {
  mix: [...EPHEMERAL, ...DURABLE],
  read: EPHEMERAL,
  deposit: [...EPHEMERAL, ...DURABLE],
  withdraw: EPHEMERAL,
};

const AIM = 0.95;
const FLOOR = 0.75;

/** Returns whether the workload has goals. */
function isHeld(workload: Workload): boolean {
  return workload === 'mix';
}

/** Computes the goals from the samples of each workload. */
export function computeGoalResults(samples: ReadonlyMap<Workload, Samples<Name>>): GoalResult[] {
  return [...samples].flatMap(([workload, of]) => {
    const isAimed = isHeld(workload);
    const named = (name: string): string => (workload === 'mix' ? name : `${name}-${workload}`);
    const ratio = (a: Name, b: Name): Estimate => ratioOf(of, a, b);
    const parts = ratio('one site', 'the same parts');
    const name = named('one-site-vs-the-same-parts');
    const time = figureRatioOf(of, { of: 'one site', to: 'the same parts' }, 'serverUsPerOp');
    const day = reported(named('one-site-vs-a-day'), ratio('one site', "a day's work"));
    const durable = (): GoalResult =>
      reported(
        named('one-site-vs-a-day-durable'),
        ratio('one site, durable', "a day's work, durable"),
      );
    return [
      isAimed ? atLeast(name, parts, { floor: FLOOR, aim: AIM }) : reported(name, parts),
      reported(named('server-time-vs-the-same-parts'), time),
      ...(of.has('other site')
        ? [
            reported(
              named('server-time-vs-other'),
              figureRatioOf(of, { of: 'one site', to: 'other site' }, 'serverUsPerOp'),
            ),
          ]
        : []),
      day,
      ...(of.has('one site, durable') ? [durable()] : []),
    ];
  });
}
