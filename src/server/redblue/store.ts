/**
 * The materialised state of one site: what its stable snapshot contains. Operations are applied to it in an order that
 * respects causality, so it only ever moves forward.
 */
import type { Effect, Stamp } from './effect.ts';
import type { FieldState } from './fields/field.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import type { Tables } from './tables.ts';

/** Whatever generators can run on: the store, or something laid over it. */
export interface StateReader {
  read(table: string, key: string, field: string): unknown;
  has(table: string, key: string): boolean;
  keys(table: string): Iterable<string>;
}

type Row = Record<string, FieldState>;

/** The rows of one site. */
export class Store implements StateReader {
  readonly #tables: Tables;
  readonly #rows = new Map<string, Map<string, Row>>();

  constructor(tables: Tables) {
    this.#tables = tables;
    for (const name of Object.keys(tables)) this.#rows.set(name, new Map());
  }

  read(table: string, key: string, field: string): unknown {
    const state = this.#rows.get(table)?.get(key)?.[field];
    return state === undefined ? this.#initial(table, field).read() : state.read();
  }

  has(table: string, key: string): boolean {
    return this.#rows.get(table)?.has(key) ?? false;
  }

  keys(table: string): Iterable<string> {
    return this.#rows.get(table)?.keys() ?? [];
  }

  /** Applies one effect and returns its result. */
  apply(effect: Effect, stamp: Stamp): unknown {
    const rows = this.#rows.get(effect.table);
    if (rows === undefined) throw new Error(`no table '${effect.table}': sites run different services`);
    let row = rows.get(effect.key);
    if (row === undefined) {
      row = Object.create(null) as Row;
      rows.set(effect.key, row);
    }
    const state = (row[effect.field] ??= this.#initial(effect.table, effect.field));
    return state.apply(effect, stamp);
  }

  /** Everything as plain data, equal at two sites exactly when they have converged. */
  snapshot(): unknown {
    const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
    return [...this.#rows].map(([table, rows]) => [
      table,
      [...rows].toSorted(byKey).map(([key, row]) => [
        key,
        Object.entries(row)
          .toSorted(byKey)
          .map(([field, state]) => [field, state.snapshot()]),
      ]),
    ]);
  }

  #initial(table: string, field: string): FieldState {
    const kind = this.#tables[table]?.fields[field]?.kind;
    if (kind === undefined) throw new Error(`no field '${table}.${field}': sites run different services`);
    return FIELD_KINDS[kind].state();
  }
}
