/** What one site is held to beside what neither replicates nor certifies. */
import { atLeast, reported, type Bar, type Estimate } from '../harness/bars.ts';
import type { Workload } from '../load/messages.ts';
import { figureRatioOf, ratioOf, type Samples } from '../load/rounds.ts';

export type Name =
  | 'one site'
  | 'the same parts'
  | "a day's work"
  | 'one site, durable'
  | "a day's work, durable"
  | 'one site, tuned'
  | 'plain, tuned';

/** The first is what is held to goals; the others show where the cost lies. */
export const WORKLOADS: readonly Workload[] = ['mix', 'read', 'deposit', 'withdraw'];
export const AIM = 0.95;
const FLOOR = 0.85;
/** Of the bar as it was: beside a service that batched nothing. */
const OLD_AIM = 0.94;

/** By workload. */
export function barsOf(samples: ReadonlyMap<Workload, Samples<Name>>): Bar[] {
  return [...samples].flatMap(([workload, of]) => {
    const named = (name: string): string => (workload === 'mix' ? name : `${name}-${workload}`);
    const ratio = (a: Name, b: Name): Estimate => ratioOf(of, a, b);
    const parts = ratio('one site', 'the same parts');
    const old = ratio('one site, tuned', 'plain, tuned');
    const [name, before] = [named('one-site-vs-the-same-parts'), named('one-site-vs-plain')];
    const time = figureRatioOf(of, { of: 'one site', to: 'the same parts' }, 'serverUsPerOp');
    return [
      workload === 'mix' ? atLeast(name, parts, { floor: FLOOR, aim: AIM }) : reported(name, parts),
      reported(named('server-time-vs-the-same-parts'), time),
      reported(named('one-site-vs-a-day'), ratio('one site', "a day's work")),
      reported(named('one-site-vs-a-day-durable'), ratio('one site, durable', "a day's work, durable")),
      workload === 'mix' ? atLeast(before, old, { aim: OLD_AIM }) : reported(before, old),
    ];
  });
}
