/**
 * Measures contenders over several starts of all their processes. Two processes of the same code
 * can differ by 10 % for as long as they live, and the speed of a machine changes from minute to
 * minute. The order of the contenders changes in each start, so that effects on the next one, such
 * as a busy disk, hit all alike.
 */
import type { Target } from './messages.ts';
import { startContestant, type Contestant, type Measured, type Order } from './processes.ts';
import { measureRounds, type Samples } from './rounds.ts';

/** A measurement, and its contenders. */
export interface Plan<N extends string> extends Order {
  readonly names: readonly N[];
}

/** How much is measured. */
export interface Extent {
  /** The number of starts of all contenders. */
  readonly starts: number;
  /** The maximum number of starts, if the result is undecided. Default: `starts` */
  readonly startsMax?: number;
  /** The number of rounds of each plan in each start. */
  readonly rounds: number;
  /**
   * The number of warm-up runs of each contender, because code that is compiled while it runs
   * starts slowly.
   */
  readonly warmUps: number;
}

/**
 * The number of starts that an interval of 95 % needs if it is checked twice (2⁻⁷ is less than half
 * of 2.5 %, 2⁻⁶ is not), and twice that number.
 */
export const STARTS = { starts: 7, startsMax: 14 } as const;

/** Enough to see that everything runs. */
export const QUICK: Extent = { starts: 1, rounds: 3, warmUps: 1 };

/** How the contenders are measured. */
export interface Starts<N extends string> extends Extent {
  /** The order for the warm-up of each contender. */
  readonly warmUp: Order;
  /** Returns whether more starts would change no verdict. Called after each `starts`. */
  readonly isDecided?: (soFar: readonly Samples<N>[]) => boolean;
  /** Starts a contender. Default: in separate processes */
  readonly startOne?: typeof startContestant;
  readonly progress: (text: string) => void;
}

/** Returns the samples of each plan over all starts. */
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
    const measured = await measureOnce(targets, plans, {
      ...each,
      startsBefore: start - 1,
      progress: reported,
    });
    for (const [index, samples] of measured.entries()) {
      for (const [name, list] of samples)
        all[index]?.get(name)?.push(...list.map((item) => ({ ...item, start })));
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
    // Start the same number of clients for each contender, even if some stay idle: a site with only
    // one connection is 10 % faster.
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
      measured.push(
        await measureRounds(chosen, { rounds, startsBefore, ...order, progress: reported }),
      );
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
