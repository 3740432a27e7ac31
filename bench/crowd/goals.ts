/**
 * The goals of a site with many connections: its processor time in comparison with a bare echo and
 * a simple server.
 */
import { limitTime, reported, type GoalResult, type Estimate } from '../harness/goals.ts';
import { figureOf, figureRatioOf, type Samples } from '../load/rounds.ts';

/** `other site` is one of another checkout, if one was named. */
export type Name =
  | 'site'
  | 'site, durable'
  | 'echo'
  | "a day's work"
  | "a day's work, durable"
  | 'other site'
  | 'other site, durable';

/** The operation of each workload. */
export const OPERATIONS = { blue: 'deposit', read: 'read', red: 'withdraw' } as const;
export type Operation = keyof typeof OPERATIONS;

/** Processor time of a blue update, as a multiple of that of an echo. */
export const FLOOR = 2;
const AIM = 1.5;

export function computeGoalResults(samples: ReadonlyMap<Operation, Samples<Name>>): GoalResult[] {
  return [...samples].flatMap(([operation, of]) => {
    const ratio = (a: Name, b: Name): Estimate =>
      figureRatioOf(of, { of: a, to: b }, 'serverUsPerOp');
    const toEcho = ratio('site', 'echo');
    const name = `${operation}-time-vs-echo`;
    return [
      operation === 'blue'
        ? limitTime(name, toEcho, { floor: FLOOR, aim: AIM })
        : reported(name, toEcho),
      reported(`${name}-durable`, ratio('site, durable', 'echo')),
      reported(`${operation}-time-vs-day`, ratio('site', "a day's work")),
      reported(`${operation}-time-vs-day-durable`, ratio('site, durable', "a day's work, durable")),
      reported(`${operation}-time-us`, figureOf(of.get('site') ?? [], 'serverUsPerOp'), 'us'),
      reported(
        `${operation}-p99-vs-day`,
        figureRatioOf(of, { of: 'site', to: "a day's work" }, 'p99Ms'),
      ),
      ...(['site', 'site, durable'] as const).flatMap((site) =>
        of.has(`other ${site}`)
          ? [
              reported(
                `${operation}-other-${site.replace(', ', '-')}-vs-echo`,
                ratio(`other ${site}`, 'echo'),
              ),
              reported(
                `${operation}-${site.replace(', ', '-')}-vs-other`,
                ratio(site, `other ${site}`),
              ),
            ]
          : [],
      ),
    ];
  });
}
