/**
 * A site's own red operations in flight, laid over its stable snapshot: the state on which previews of red updates are
 * computed (Correctables, OSDI 2016, §5.2). It follows both the store below it and the operations that come and go at a
 * cost that does not grow with how many are in flight.
 */
import type { Effect } from './effect.ts';
import type { PendingEffects } from './fields/field.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import type { StateReader } from './store.ts';
import type { Tables } from './tables.ts';

type PendingRow = Map<string, PendingEffects>;

/** Pending effects over a state. */
export class Overlay implements StateReader {
  readonly #tables: Tables;
  readonly #base: StateReader;
  readonly #rows = new Map<string, Map<string, PendingRow>>();
  readonly #effectsOf = new Map<number, readonly Effect[]>();

  constructor(tables: Tables, base: StateReader) {
    this.#tables = tables;
    this.#base = base;
    for (const name of Object.keys(tables)) this.#rows.set(name, new Map());
  }

  /** Whether it shows nothing but the state below. */
  get isEmpty(): boolean {
    return this.#effectsOf.size === 0;
  }

  /** Lays the effects of operation `owner` on top and returns their results. */
  add(owner: number, effects: readonly Effect[]): unknown[] {
    if (effects.length === 0) return [];
    this.#effectsOf.set(owner, effects);
    return effects.map((effect) => {
      const base = this.#base.read(effect.table, effect.key, effect.field);
      return this.#pendingOf(effect).append(owner, effect, base);
    });
  }

  /** Takes away what `owner` laid on, if it did. */
  remove(owner: number): void {
    const effects = this.#effectsOf.get(owner);
    if (effects === undefined) return;
    this.#effectsOf.delete(owner);
    const done = new Set<PendingEffects>();
    for (const effect of effects) {
      const pending = this.#pendingOf(effect);
      if (done.has(pending)) continue;
      done.add(pending);
      pending.remove(owner);
      if (pending.size === 0) this.#forget(effect);
    }
  }

  read(table: string, key: string, field: string): unknown {
    const base = this.#base.read(table, key, field);
    const pending = this.#rows.get(table)?.get(key)?.get(field);
    return pending === undefined ? base : pending.over(base);
  }

  has(table: string, key: string): boolean {
    return this.#base.has(table, key) || (this.#rows.get(table)?.has(key) ?? false);
  }

  *keys(table: string): Iterable<string> {
    yield* this.#base.keys(table);
    for (const key of this.#rows.get(table)?.keys() ?? []) if (!this.#base.has(table, key)) yield key;
  }

  #pendingOf({ table, key, field }: Effect): PendingEffects {
    const rows = this.#rows.get(table);
    const kind = this.#tables[table]?.fields[field]?.kind;
    if (rows === undefined || kind === undefined) throw new Error(`no field '${table}.${field}'`);
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = new Map()));
    let pending = row.get(field);
    if (pending === undefined) row.set(field, (pending = FIELD_KINDS[kind].pending()));
    return pending;
  }

  #forget({ table, key, field }: Effect): void {
    const rows = this.#rows.get(table);
    const row = rows?.get(key);
    row?.delete(field);
    if (row?.size === 0) rows?.delete(key);
  }
}
