/**
 * Reports rights to bounded fields that are lost with a closed site (CLU-M12 of
 * docs/spec/cluster.md). No other site gets them. The closed site may have used them for takes that
 * no other site has, and may have confirmed those takes.
 */
import type { Settling, SitePart } from '../../core/site-part.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type { LostRight } from '../../site-event.ts';
import type { Ledger } from '../../../service/fields/ledger.ts';
import type { Tables } from '../../../service/tables.ts';
import type { Store } from '../../../service/state/store.ts';
import type { SiteCore } from '../../core/site-core.ts';

/** How many rows a turn reads. The rows of a closed site may be all rows that there are. */
const ROWS_PER_TURN = 500;

export class LostRights implements SitePart, Settling {
  /** Whether a closed origin has not been reported. */
  isDue = false;
  readonly #core: SiteCore;
  /** Closed origins that were reported, or were closed before this start. */
  readonly #known: Set<Origin>;
  /** Closed origins that were not, with their rights as far as they were found. */
  readonly #pending = new Map<Origin, RightsOfClosed>();

  constructor(core: SiteCore) {
    this.#core = core;
    const { origins } = core.options;
    this.#known = new Set(
      origins.closed.filter((origin) => origins.get(origin).final !== undefined),
    );
  }

  /** Listing goes on in the next turn. */
  get wakeAtMs(): number | undefined {
    const isListing = [...this.#pending.keys()].some((origin) => this.#isApplied(origin));
    return isListing ? this.#core.nowMs : undefined;
  }

  onMembersChanged(): void {
    const { origins, service } = this.#core.options;
    for (const origin of origins.closed) {
      if (origins.get(origin).final === undefined || this.#known.has(origin)) continue;
      this.#known.add(origin);
      this.#pending.set(origin, new RightsOfClosed(service.tables, origin));
      this.isDue = true;
    }
  }

  /** Reports each closed origin once its stream is applied here and its rights are listed. */
  settle(): boolean {
    let hasReported = false;
    for (const [origin, rights] of this.#pending) {
      if (!this.#isApplied(origin)) continue;
      if (!rights.list(this.#core.state.store, ROWS_PER_TURN)) continue;
      this.#pending.delete(origin);
      hasReported = true;
      const { lost } = rights;
      if (lost.length > 0) this.#core.outputs.report({ kind: 'rights-lost', origin, lost });
    }
    this.isDue = this.#pending.size > 0;
    return hasReported;
  }

  #isApplied(origin: Origin): boolean {
    const { state, options } = this.#core;
    return (state.stable[origin] ?? 0) >= (options.origins.get(origin).final?.stamp ?? 0);
  }
}

/**
 * Lists the rights of an origin whose whole stream is applied. They do not change any more, and no
 * new row has any, so the rows can be read a few at a time.
 */
class RightsOfClosed {
  readonly lost: LostRight[] = [];
  readonly #origin: Origin;
  /** The tables that are not read as a whole, with their bounded fields. */
  readonly #tables: (readonly [table: string, fields: readonly string[]])[];
  /** The last row that was read of the first of them. */
  #last: string | undefined;

  constructor(tables: Tables, origin: Origin) {
    this.#origin = origin;
    this.#tables = Object.entries(tables).flatMap(([table, { fields }]) => {
      const bounded = Object.keys(fields).filter((field) => fields[field]?.kind === 'bounded');
      return bounded.length === 0 ? [] : [[table, bounded] as const];
    });
  }

  /** Reads up to `maxRows`. Returns whether all are read. */
  list(store: Store, maxRows: number): boolean {
    let read = 0;
    for (;;) {
      const [next] = this.#tables;
      if (next === undefined) return true;
      const [table, fields] = next;
      const range = this.#last === undefined ? { table } : { table, from: this.#last };
      for (const { key } of store.scan(range, false)) {
        if (key === this.#last) continue;
        if (read === maxRows) return false;
        read += 1;
        this.#last = key;
        this.#addRights(store, table, key, fields);
      }
      this.#tables.shift();
      this.#last = undefined;
    }
  }

  #addRights(store: Store, table: string, key: string, fields: readonly string[]): void {
    for (const field of fields) {
      const amount = (store.read(table, key, field) as Ledger).getHolding(this.#origin);
      if (amount > 0) this.lost.push({ table, key, field, amount });
    }
  }
}
