/**
 * Measures contestants over several starts of all their processes: two processes of the same code can differ by a tenth
 * for as long as they live, and a machine from one minute to the next. Who runs first, and after whom, changes from start to
 * start: what one leaves behind, as a disk that still writes, befalls all.
 */
import type { Target } from './messages.ts';
import { startContestant, type Contestant, type Measured, type Order } from './processes.ts';
import { measureRounds, type Samples } from './rounds.ts';

/** One thing to measure, and whom. */
export interface Plan<N extends string> extends Order {
  readonly names: readonly N[];
}

/** How much is measured. */
export interface Extent {
  /** How often everybody starts. */
  readonly starts: number;
  /** At most, where it is not decided by then; no more than `starts` unless given. */
  readonly startsMax?: number;
  /** Of each plan, in each start. */
  readonly rounds: number;
  /** How often each contestant runs first, since what compiles as it runs takes its time to get to its pace. */
  readonly warmUps: number;
}

/**
 * As many as an interval of 95 % takes that may be looked at twice (2⁻⁷ is less than a half of 2.5 %, 2⁻⁶ is not), and as
 * many again.
 */
export const STARTS = { starts: 7, startsMax: 14 } as const;

/** Enough to see that all of it runs. */
export const QUICK: Extent = { starts: 1, rounds: 3, warmUps: 1 };

/** How everybody is measured. */
export interface Starts<N extends string> extends Extent {
  /** What each contestant runs first. */
  readonly warmUp: Order;
  /** Asked after `starts`, and each time after as many again: whether more would tell no more. */
  readonly isDecided?: (soFar: readonly Samples<N>[]) => boolean;
  /** Starts one; in processes of its own unless given. */
  readonly startOne?: typeof startContestant;
  readonly progress: (text: string) => void;
}

/** The samples of each plan, over all starts. */
export async function measureStarts<N extends string>(
  targets: Readonly<Record<N, Target>>,
  plans: readonly Plan<N>[],
  { starts, startsMax: maxStarts = starts, isDecided = () => true, progress, ...each }: Starts<N>,
): Promise<Samples<N>[]> {
  const all = plans.map(({ names }) => new Map(names.map((name) => [name, [] as Measured[]])));
  for (let start = 1; start <= maxStarts; start += 1) {
    if (start > starts && (start - 1) % starts === 0 && isDecided(all)) break;
    const of = start <= starts ? `of ${starts}` : `of at most ${maxStarts}, until it is decided`;
    const reported = (text: string): void => progress(`start ${start} ${of}, ${text}`);
    const measured = await measureOnce(targets, plans, { ...each, startsBefore: start - 1, progress: reported });
    for (const [index, samples] of measured.entries()) {
      for (const [name, list] of samples) all[index]?.get(name)?.push(...list.map((item) => ({ ...item, start })));
    }
  }
  return all;
}

async function measureOnce<N extends string>(
  targets: Readonly<Record<N, Target>>,
  plans: readonly Plan<N>[],
  {
    rounds,
    startsBefore,
    warmUp,
    warmUps,
    startOne = startContestant,
    progress,
  }: Omit<Starts<N>, 'starts' | 'startsMax' | 'isDecided'> & { readonly startsBefore: number },
): Promise<Samples<N>[]> {
  const contestants = new Map<N, Contestant>();
  try {
    // As many for each, also where some are never asked: a site does a tenth more as long as it has one connection only.
    const clients = Math.max(...plans.map((plan) => plan.clients ?? 1));
    for (const name of new Set(plans.flatMap(({ names }) => names))) {
      contestants.set(name, await startOne(targets[name], clients));
    }
    for (const [name, contestant] of contestants) {
      progress(`${name}: warms up`);
      for (let run = 0; run < warmUps; run += 1) await contestant.run(warmUp);
    }
    const measured: Samples<N>[] = [];
    for (const { names, ...order } of plans) {
      const chosen = new Map(names.map((name) => [name, contestants.get(name) as Contestant]));
      const reported = (text: string): void => progress(`${titleOf(order)}: ${text}`);
      measured.push(await measureRounds(chosen, { rounds, startsBefore, ...order, progress: reported }));
    }
    return measured;
  } finally {
    for (const contestant of contestants.values()) await contestant.stop();
  }
}

function titleOf({ workload, window, clients = 1, perSecond }: Order): string {
  const load = perSecond === undefined ? `window ${window}` : `${Math.round(perSecond)} a second`;
  return [workload, load, clients === 1 ? [] : `${clients} clients`].flat().join(', ');
}
