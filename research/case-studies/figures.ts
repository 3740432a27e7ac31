/** What is counted of the interactions of a run: how many, how fast, of which color. */
import { percentilesOf, type Percentiles } from '../../demo/tickets/verify/percentiles.ts';
import type { Site } from './sites.ts';
import type { Interaction } from './user.ts';

export interface Latency extends Percentiles {
  readonly count: number;
}

/**
 * Of the interactions of one kind: those with a red operation in them, and all others; null where
 * there are none.
 */
export interface ByColor {
  readonly blue: Latency | null;
  readonly red: Latency | null;
}

/** Shares, from 0 to 1 (RedBlue, OSDI 2012, Table 4). */
export interface Shares {
  /** Of all shadow operations, those of reads included. */
  readonly blue: number;
  readonly red: number;
  /** Of all interactions: those without an update, and those with one. */
  readonly readOnly: number;
  readonly update: number;
}

export interface RunFigures {
  readonly interactions: number;
  readonly interactionsPerSecond: number;
  readonly shares: Shares;
  /** By request, all sites together; latencies in milliseconds. */
  readonly requests: Readonly<Record<string, ByColor>>;
  /** By site, all requests together. */
  readonly sites: Readonly<Partial<Record<Site, ByColor & { readonly interactions: number }>>>;
  /** How often interactions ended with an error, by its code. */
  readonly failures: Readonly<Record<string, number>>;
}

/** The latest latencies of one kind, and how many there were in all. */
class Latencies {
  count = 0;
  readonly #recent: number[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(ms: number): void {
    this.#recent[this.count % this.#max] = ms;
    this.count += 1;
  }

  get latency(): Latency | null {
    return this.count === 0 ? null : { count: this.count, ...percentilesOf(this.#recent) };
  }
}

interface Cell {
  readonly site: Site;
  readonly request: string;
  readonly blue: Latencies;
  readonly red: Latencies;
}

/** Collects interactions. */
export class Tally {
  /** Those that came to their end: of the others only the failure counts. */
  interactions = 0;
  #updating = 0;
  #operations = 0;
  #red = 0;
  readonly #max: number;
  readonly #requests = new Map<string, Omit<Cell, 'site' | 'request'>>();
  readonly #sites = new Map<Site, Omit<Cell, 'site' | 'request'>>();
  readonly #cells = new Map<string, Cell>();
  readonly #failures = new Map<string, number>();

  /** @param keptMax latencies of each kind that percentiles are taken of: the latest ones */
  constructor(max = 1_000_000) {
    this.#max = max;
  }

  readonly add = ({ site, request, ms, operations, updates, red, failure }: Interaction): void => {
    // A store that rejects everything at once is not fast.
    if (failure !== undefined)
      return void this.#failures.set(failure, (this.#failures.get(failure) ?? 0) + 1);
    this.interactions += 1;
    this.#operations += operations;
    this.#red += red;
    if (updates > 0) this.#updating += 1;
    const color = red > 0 ? 'red' : 'blue';
    const fresh = () => ({ blue: new Latencies(this.#max), red: new Latencies(this.#max) });
    foundOrMade(this.#requests, request, fresh)[color].add(ms);
    foundOrMade(this.#sites, site, fresh)[color].add(ms);
    const name = `${site} ${request}`;
    foundOrMade(this.#cells, name, () => ({ site, request, ...fresh() }))[color].add(ms);
  };

  /** All of it, for a run of so many seconds. */
  figures(seconds: number): RunFigures {
    const share = (part: number, of: number): number =>
      of === 0 ? 0 : Math.round((part / of) * 1e4) / 1e4;
    const { interactions } = this;
    return {
      interactions,
      interactionsPerSecond: seconds > 0 ? Math.round((interactions / seconds) * 10) / 10 : 0,
      shares: {
        blue: share(this.#operations - this.#red, this.#operations),
        red: share(this.#red, this.#operations),
        readOnly: share(interactions - this.#updating, interactions),
        update: share(this.#updating, interactions),
      },
      requests: Object.fromEntries(
        [...this.#requests].map(([name, cell]) => [name, byColor(cell)]),
      ),
      sites: Object.fromEntries(
        [...this.#sites].map(([site, cell]) => [
          site,
          { interactions: cell.blue.count + cell.red.count, ...byColor(cell) },
        ]),
      ),
      failures: Object.fromEntries(this.#failures),
    };
  }

  /** Request by request at each site, for the page. */
  get cells(): readonly (ByColor & { readonly site: Site; readonly request: string })[] {
    return [...this.#cells.values()].map(({ site, request, ...cell }) => ({
      site,
      request,
      ...byColor(cell),
    }));
  }
}

function byColor({ blue, red }: { readonly blue: Latencies; readonly red: Latencies }): ByColor {
  return { blue: blue.latency, red: red.latency };
}

function foundOrMade<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
