/** What one site is held to beside what neither replicates nor certifies. */
import { atLeast, reported, type Bar, type Estimate } from '../harness/bars.ts';
import { figureRatioOf, ratioOf, type Samples } from '../load/rounds.ts';

export type Name =
  | 'one site'
  | 'the same parts'
  | "a day's work"
  | 'one site, durable'
  | "a day's work, durable"
  | 'one site, tuned'
  | 'plain, tuned';

/**
 * The first is what is held to goals, and the second, as it was; those after them show where the cost lies. The last is the
 * first again, when all the others have run in the same processes: what the optimiser comes to late is compiled by then.
 */
export const WORKLOADS = ['mix', 'mix-by-turns', 'read', 'deposit', 'withdraw', 'mix-warm'] as const;
export type Workload = (typeof WORKLOADS)[number];

const EPHEMERAL: readonly Name[] = ['one site', 'the same parts', "a day's work"];
const DURABLE: readonly Name[] = ['one site, durable', "a day's work, durable"];
/** Of the bar as it was. */
const OLD: readonly Name[] = ['one site, tuned', 'plain, tuned'];

/** Who is measured with what. */
export const NAMES_OF: Readonly<Record<Workload, readonly Name[]>> = {
  mix: [...EPHEMERAL, ...DURABLE],
  'mix-by-turns': [...EPHEMERAL, ...OLD],
  read: EPHEMERAL,
  deposit: [...EPHEMERAL, ...DURABLE],
  withdraw: EPHEMERAL,
  'mix-warm': EPHEMERAL,
};

export const AIM = 0.95;
const FLOOR = 0.85;
/** Of the bar as it was: beside a service that batches nothing, for one release. */
const OLD_AIM = 0.94;

/** Whether there are goals for it. */
export function isHeld(workload: Workload): boolean {
  return workload === 'mix' || workload === 'mix-by-turns';
}

/** By workload. */
export function barsOf(samples: ReadonlyMap<Workload, Samples<Name>>): Bar[] {
  return [...samples].flatMap(([workload, of]) => {
    const isAimed = isHeld(workload);
    const named = (name: string): string => (workload === 'mix' ? name : `${name}-${workload}`);
    const ratio = (a: Name, b: Name): Estimate => ratioOf(of, a, b);
    const parts = ratio('one site', 'the same parts');
    const name = named('one-site-vs-the-same-parts');
    const time = figureRatioOf(of, { of: 'one site', to: 'the same parts' }, 'serverUsPerOp');
    const day = reported(named('one-site-vs-a-day'), ratio('one site', "a day's work"));
    const durable = (): Bar =>
      reported(named('one-site-vs-a-day-durable'), ratio('one site, durable', "a day's work, durable"));
    return [
      isAimed ? atLeast(name, parts, { floor: FLOOR, aim: AIM }) : reported(name, parts),
      reported(named('server-time-vs-the-same-parts'), time),
      day,
      ...(of.has('one site, durable') ? [durable()] : []),
      ...(of.has('plain, tuned')
        ? [atLeast('one-site-vs-plain', ratio('one site, tuned', 'plain, tuned'), { aim: OLD_AIM })]
        : []),
    ];
  });
}
