/** Whether all that a site shows together keeps what the service says of it (RedBlue, OSDI 2012, Theorem 2). */
import { createTablesReader, type ReadListener } from '../../generator/table-readers.ts';
import type { ReadRange } from '../../records/read-range.ts';
import { findInvariantFailure } from '../../service/invariants.ts';
import type { Service } from '../../service/service.ts';
import type { BrokenInvariant } from './row-invariants.ts';
import type { SiteState } from './site-state.ts';

/** What is known of one state. */
interface WatchedState {
  readonly tables: ReturnType<typeof createTablesReader>;
  readonly notes: TableReadRecorder;
  /** By invariant: the tables that it read when it was last asked. Only what changes one of them can change its answer. */
  readonly read: Map<string, ReadonlySet<string>>;
}

/** Asks each condition on the whole snapshot again when a table has changed that it had read. */
export class SnapshotInvariantCheck {
  readonly #service: Service;
  readonly #watched = new WeakMap<SiteState, WatchedState>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** What does not hold, of the conditions whose answer may have changed with these tables, and those never asked. */
  findBroken(tables: ReadonlySet<string>, state: SiteState): readonly BrokenInvariant[] {
    const watched = this.#getWatched(state);
    const broken: BrokenInvariant[] = [];
    for (const [invariant, holds] of Object.entries(this.#service.snapshotInvariants)) {
      const before = watched.read.get(invariant);
      if (before !== undefined && !intersects(before, tables)) continue;
      watched.read.set(invariant, watched.notes.begin());
      const error = findInvariantFailure(() => holds(watched.tables));
      if (error !== undefined) broken.push({ invariant, ...error });
    }
    return broken;
  }

  #getWatched(state: SiteState): WatchedState {
    let watched = this.#watched.get(state);
    if (watched === undefined) {
      const notes = new TableReadRecorder();
      watched = { tables: createTablesReader(this.#service.tables, state.store, notes), notes, read: new Map() };
      this.#watched.set(state, watched);
    }
    return watched;
  }
}

function intersects(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const item of some) if (others.has(item)) return true;
  return false;
}

/** Notes of what is read the tables. */
class TableReadRecorder implements ReadListener {
  #tables = new Set<string>();

  /** From now on, what is read comes into what this returns. */
  begin(): ReadonlySet<string> {
    this.#tables = new Set();
    return this.#tables;
  }

  readonly onField = (table: string): void => void this.#tables.add(table);
  readonly onRow = (table: string): void => void this.#tables.add(table);
  readonly onRemoval = (table: string): void => void this.#tables.add(table);
  readonly onRange = ({ table }: ReadRange): void => void this.#tables.add(table);
  readonly onScanned = (): void => {};
}
