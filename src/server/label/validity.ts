/** Whether a state is valid: all that the service says of its rows holds (RedBlue, OSDI 2012, §5.3). */
import type { Effect } from '../records/effect.ts';
import { failureOf, type InvariantFailure } from '../service/invariants.ts';
import type { TablesReader } from '../service/readers.ts';
import type { Tables } from '../service/tables.ts';
import type { Store } from '../state/store.ts';
import type { Workshop } from './workshop.ts';

/** A row as generators read it. */
export interface ShownRow {
  readonly table: string;
  readonly key: string;
  /** None of a row that is not there. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Something that the service says, and that does not hold. */
export interface Broken extends InvariantFailure {
  readonly invariant: string;
  /** Whether it speaks of one row, or of all tables together. */
  readonly isOfRow: boolean;
  /** The row; of what speaks of all tables those that were changed last. */
  readonly rows: readonly ShownRow[];
}

/** Judges one store. */
export class Validity {
  readonly #workshop: Workshop;
  readonly #store: Store;

  constructor(workshop: Workshop, store: Store) {
    this.#workshop = workshop;
    this.#store = store;
  }

  get #tables(): TablesReader<Tables> {
    return this.#workshop.tablesOf(this.#store);
  }

  /** The first thing that does not hold: of the rows which these effects have changed, and not removed, or of all tables. */
  brokenBy(effects: readonly Effect[]): Broken | undefined {
    const { invariants, snapshotInvariants } = this.#workshop.judged.runnable;
    for (const { table, key } of effects) {
      if (!this.#store.has(table, key)) continue;
      const row = this.#tables[table]?.row(key) ?? {};
      for (const [invariant, holds] of Object.entries(invariants[table] ?? {})) {
        const failure = failureOf(() => holds(row));
        if (failure !== undefined) return { invariant, isOfRow: true, rows: [this.row(table, key)], ...failure };
      }
    }
    for (const [invariant, holds] of Object.entries(snapshotInvariants)) {
      const failure = failureOf(() => holds(this.#tables));
      if (failure !== undefined) return { invariant, isOfRow: false, rows: this.rowsOf(effects), ...failure };
    }
    return undefined;
  }

  /** The rows that effects are on, each once. */
  rowsOf(effects: readonly Effect[]): readonly ShownRow[] {
    const rows = new Map(effects.map(({ table, key }) => [JSON.stringify([table, key]), { table, key }]));
    return [...rows.values()].map(({ table, key }) => this.row(table, key));
  }

  row(table: string, key: string): ShownRow {
    if (!this.#store.has(table, key)) return { table, key, fields: {} };
    const row = (this.#tables[table]?.row(key) ?? {}) as Readonly<Record<string, unknown>>;
    const names = Object.keys(this.#workshop.judged.tables[table]?.fields ?? {});
    return { table, key, fields: Object.fromEntries(names.map((name) => [name, plain(row[name])])) };
  }
}

/** A value to be kept: a set as a list, a queue as its items, of a bounded field what stands. */
function plain(value: unknown): unknown {
  if (value instanceof Set) return [...(value as Set<unknown>)];
  if (typeof value === 'object' && value !== null && 'rights' in value && 'value' in value) return value.value;
  if (typeof value !== 'object' || value === null || !('size' in value) || !('at' in value)) return value;
  const { size, at } = value as { size: number; at(index: number): unknown };
  return Array.from({ length: size }, (_, index) => at(index));
}
