/** Whether all that a site shows together keeps what the service says of it (RedBlue, OSDI 2012, Theorem 2). */
import { tablesReader, type ReadNotes } from '../../generator/table-readers.ts';
import type { ReadRange } from '../../records/key-range.ts';
import { failureOf } from '../../service/invariants.ts';
import type { Service } from '../../service/service.ts';
import type { BrokenInvariant } from './invariants.ts';
import type { SiteState } from './site-state.ts';

/** What is known of one state. */
interface Watched {
  readonly tables: ReturnType<typeof tablesReader>;
  readonly notes: TablesRead;
  /** By invariant: the tables that it read when it was last asked. Only what changes one of them can change its answer. */
  readonly read: Map<string, ReadonlySet<string>>;
}

/** Asks each condition on the whole snapshot again when a table has changed that it had read. */
export class SnapshotCheck {
  readonly #service: Service;
  readonly #watched = new WeakMap<SiteState, Watched>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** What does not hold, of the conditions whose answer may have changed with these tables, and those never asked. */
  brokenBy(tables: ReadonlySet<string>, state: SiteState): readonly BrokenInvariant[] {
    const watched = this.#watchedOf(state);
    const broken: BrokenInvariant[] = [];
    for (const [invariant, holds] of Object.entries(this.#service.snapshotInvariants)) {
      const before = watched.read.get(invariant);
      if (before !== undefined && !haveCommon(before, tables)) continue;
      watched.read.set(invariant, watched.notes.begin());
      const error = failureOf(() => holds(watched.tables));
      if (error !== undefined) broken.push({ invariant, ...error });
    }
    return broken;
  }

  #watchedOf(state: SiteState): Watched {
    let watched = this.#watched.get(state);
    if (watched === undefined) {
      const notes = new TablesRead();
      watched = { tables: tablesReader(this.#service.tables, state.store, notes), notes, read: new Map() };
      this.#watched.set(state, watched);
    }
    return watched;
  }
}

function haveCommon(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const each of some) if (others.has(each)) return true;
  return false;
}

/** Notes of what is read the tables. */
class TablesRead implements ReadNotes {
  #tables = new Set<string>();

  /** From now on, what is read comes into what this returns. */
  begin(): ReadonlySet<string> {
    this.#tables = new Set();
    return this.#tables;
  }

  readonly field = (table: string): void => void this.#tables.add(table);
  readonly row = (table: string): void => void this.#tables.add(table);
  readonly removal = (table: string): void => void this.#tables.add(table);
  readonly range = ({ table }: ReadRange): void => void this.#tables.add(table);
  readonly scanned = (): void => {};
}
