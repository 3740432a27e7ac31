/** Checks whether operations keep the invariants of the service (RedBlue, OSDI 2012, Theorem 2). */
import {
  NO_READ_LISTENER,
  createTablesReader,
  type ReadListener,
} from '../../service/generator/table-readers.ts';
import type { Effect } from '../../service/records/effect.ts';
import type { ReadRange } from '../../service/records/read-range.ts';
import { findInvariantFailure, type InvariantFailure } from '../../service/invariants.ts';
import type { Service } from '../../service/service.ts';
import type { SiteState } from './site-state.ts';

type TablesReader = ReturnType<typeof createTablesReader>;

export interface BrokenInvariant extends InvariantFailure {
  readonly invariant: string;
}

interface BrokenRow extends BrokenInvariant {
  readonly table: string;
  readonly key: string;
}

/** The readers of one state. They are kept because creating them costs more than a check. */
interface CheckedState {
  readonly rows: TablesReader;
  readonly snapshot: TablesReader;
  readonly recorder: TableReadRecorder;
  /**
   * By invariant: the tables that it read at the last check. Only a change of one of them can
   * change its result.
   */
  readonly read: Map<string, ReadonlySet<string>>;
}

/** Checks the invariants of a service after each operation. */
export class InvariantCheck {
  readonly #service: Service;
  readonly #states = new WeakMap<SiteState, CheckedState>();

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Returns the invariants that do not hold for the rows that `effects` have changed and not
   * removed.
   */
  findBrokenRows(effects: readonly Effect[], state: SiteState): readonly BrokenRow[] {
    const broken = new Map<string, BrokenRow>();
    for (const { table, key } of effects) {
      // A removed row reads like a new one, and no invariant is about that.
      if (!state.store.has(table, key)) continue;
      for (const [invariant, holds] of Object.entries(this.#service.invariants[table] ?? {})) {
        const row = this.#getChecked(state).rows[table]?.row(key) ?? {};
        const error = findInvariantFailure(() => holds(row));
        if (error !== undefined)
          broken.set(`${table}\n${key}\n${invariant}`, {
            table,
            key,
            invariant,
            ...error,
          });
      }
    }
    return [...broken.values()];
  }

  /**
   * Returns the invariants on whole tables that do not hold. It checks those that read one of these
   * tables, and those that were never checked.
   */
  findBrokenConditions(tables: ReadonlySet<string>, state: SiteState): readonly BrokenInvariant[] {
    const { snapshot, recorder, read } = this.#getChecked(state);
    const broken: BrokenInvariant[] = [];
    for (const [invariant, holds] of Object.entries(this.#service.snapshotInvariants)) {
      const before = read.get(invariant);
      if (before !== undefined && ![...before].some((table) => tables.has(table))) continue;
      read.set(invariant, recorder.begin());
      const error = findInvariantFailure(() => holds(snapshot));
      if (error !== undefined) broken.push({ invariant, ...error });
    }
    return broken;
  }

  #getChecked(state: SiteState): CheckedState {
    let checked = this.#states.get(state);
    if (checked === undefined) {
      const { tables } = this.#service;
      const recorder = new TableReadRecorder();
      const rows = createTablesReader(tables, state.store, NO_READ_LISTENER);
      checked = {
        rows,
        snapshot: createTablesReader(tables, state.store, recorder),
        recorder,
        read: new Map(),
      };
      this.#states.set(state, checked);
    }
    return checked;
  }
}

/** Notes which tables are read. */
class TableReadRecorder implements ReadListener {
  #tables = new Set<string>();

  /** Returns a set to which every table is added that is read from now on. */
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
