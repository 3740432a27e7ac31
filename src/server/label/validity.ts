/** Whether a state is valid: all that the service says of its rows holds (RedBlue, OSDI 2012, §5.3). */
import { textOf } from '../records/failure.ts';
import type { Effect } from '../records/effect.ts';
import { NO_NOTES, tablesReader } from '../generator/table-readers.ts';
import type { TablesReader } from '../service/readers.ts';
import type { Service } from '../service/service.ts';
import type { Tables } from '../service/tables.ts';
import type { Store } from '../state/store.ts';

/** Something that the service says, and that does not hold. */
export interface Broken {
  readonly table: string;
  readonly key: string;
  readonly invariant: string;
  /** The fields of the row, as generators read them. */
  readonly row: Readonly<Record<string, unknown>>;
  /** What the condition threw, where it did not say so. */
  readonly error?: string;
}

/** Judges one store. */
export class Validity {
  readonly #service: Service;
  readonly #store: Store;
  readonly #tables: TablesReader<Tables>;

  constructor(service: Service, store: Store) {
    this.#service = service;
    this.#store = store;
    this.#tables = tablesReader(service.tables, store, NO_NOTES);
  }

  /** The first thing that does not hold of the rows which these effects have changed, and not removed. */
  brokenBy(effects: readonly Effect[]): Broken | undefined {
    for (const { table, key } of effects) {
      if (!this.#store.has(table, key)) continue;
      const row = this.#tables[table]?.row(key) ?? {};
      for (const [invariant, holds] of Object.entries(this.#service.invariants[table] ?? {})) {
        const failure = failureOf(() => holds(row));
        if (failure !== undefined) return { table, key, invariant, row: this.row(table, key), ...failure };
      }
    }
    return undefined;
  }

  /** The fields of a row, none where it is not there. */
  row(table: string, key: string): Readonly<Record<string, unknown>> {
    if (!this.#store.has(table, key)) return {};
    const row = this.#tables[table]?.row(key) ?? {};
    const fields = Object.keys(this.#service.tables[table]?.fields ?? {});
    return Object.fromEntries(fields.map((field) => [field, plain((row as Record<string, unknown>)[field])]));
  }
}

function failureOf(holds: () => boolean): { readonly error?: string } | undefined {
  try {
    return holds() ? undefined : {};
  } catch (error) {
    return { error: textOf(error) };
  }
}

/** A value to be kept: a set as a list, a queue as its items. */
function plain(value: unknown): unknown {
  if (value instanceof Set) return [...(value as Set<unknown>)];
  if (typeof value !== 'object' || value === null || !('size' in value) || !('at' in value)) return value;
  const { size, at } = value as { size: number; at(index: number): unknown };
  return Array.from({ length: size }, (_, index) => at(index));
}
