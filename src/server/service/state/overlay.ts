/**
 * Effects on top of a state: operations in flight (Correctables, OSDI 2016, §5.2), or a scratchpad.
 * Their cost does not grow with the number of operations in flight.
 */
import { type Effect, isRemoval, isWholeRow } from '../records/effect.ts';
import { FIELD_KINDS } from '../fields/field-kinds.ts';
import type { OwnedEffects } from '../fields/owned-effects.ts';
import { compareEntries, type Entry, type ReadRange } from '../records/read-range.ts';
import { getIndexedValues } from './indexed-values.ts';
import { SortedEntries } from './sorted-entries.ts';
import type { StateReader } from './store.ts';
import type { Table, Tables } from '../tables.ts';

interface PresenceChange {
  readonly owner: number;
  readonly exists: boolean;
}

const NO_CHANGES: PresenceChange[] = [];

/**
 * Determines whether a row exists: the pending writes, insertions and removals of one row, in
 * order, each owned by an operation.
 */
class PendingPresence {
  readonly #removable: boolean;
  /** The pending changes, in a table whose rows can be removed. */
  #changes: PresenceChange[] = NO_CHANGES;
  /** The number of pending writes. It suffices if rows of the table are never removed. */
  #writes = 0;

  constructor(removable: boolean) {
    this.#removable = removable;
  }

  get size(): number {
    return this.#removable ? this.#changes.length : this.#writes;
  }

  append(owner: number, exists: boolean): void {
    if (!this.#removable) this.#writes += 1;
    else if (this.#changes === NO_CHANGES) this.#changes = [{ owner, exists }];
    else this.#changes.push({ owner, exists });
  }

  /** Removes one change of the owner. Must be called once for each of its changes. */
  remove(owner: number): void {
    if (!this.#removable) {
      this.#writes -= 1;
      return;
    }
    let first = 0;
    while (this.#changes[first]?.owner === owner) first += 1;
    if (first > 0) this.#changes.splice(0, first);
    else this.#changes = this.#changes.filter((change) => change.owner !== owner);
  }

  /** Returns whether the row exists, if `isBelow` returns whether it exists in the state below. */
  applyTo(isBelow: () => boolean): boolean {
    if (!this.#removable) return this.#writes > 0 || isBelow();
    return this.#changes.at(-1)?.exists ?? isBelow();
  }
}

interface PendingField {
  readonly name: string;
  readonly effects: OwnedEffects;
}

/**
 * The pending effects on one row. They exist only while operations are in flight, and few fields
 * are written. So arrays suffice, and are cheap to create.
 */
interface PendingRow {
  readonly fields: PendingField[];
  readonly presence: PendingPresence;
}

interface PendingTable {
  readonly declared: Table;
  readonly rows: Map<string, PendingRow>;
  /** The keys of `rows`, in order; kept from the first scan of the table on. */
  keys: SortedEntries | undefined;
}

/** The state below an overlay. Notes whether the overlay would have returned another value. */
export class UnderlyingState implements StateReader {
  /** Whether the overlay has effects on anything that was read since this was set to false. */
  wasCovered = false;
  readonly #base: StateReader;
  readonly #tables: ReadonlyMap<string, PendingTable>;

  constructor(base: StateReader, tables: ReadonlyMap<string, PendingTable>) {
    this.#base = base;
    this.#tables = tables;
  }

  read(table: string, key: string, field: string): unknown {
    if (this.#tables.get(table)?.rows.has(key) === true) this.wasCovered = true;
    return this.#base.read(table, key, field);
  }

  has(table: string, key: string): boolean {
    if (this.#tables.get(table)?.rows.has(key) === true) this.wasCovered = true;
    return this.#base.has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    if (this.#tables.get(range.table)?.rows.size !== 0) this.wasCovered = true;
    return this.#base.scan(range, reverse);
  }
}

export class Overlay implements StateReader {
  readonly underlying: UnderlyingState;
  readonly #base: StateReader;
  readonly #tables: ReadonlyMap<string, PendingTable>;
  /** Owners of effects. */
  #size = 0;

  constructor(tables: Tables, base: StateReader) {
    this.#base = base;
    this.#tables = new Map(
      Object.entries(tables).map(([name, declared]) => [
        name,
        { declared, rows: new Map<string, PendingRow>(), keys: undefined },
      ]),
    );
    this.underlying = new UnderlyingState(base, this.#tables);
  }

  /** Whether it has no effects, and shows only the state below. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Adds the effects of operation `owner` and returns their results. */
  add(owner: number, effects: readonly Effect[]): unknown[] {
    if (effects.length === 0) return [];
    this.#size += 1;
    return effects.map((effect) => this.#append(owner, effect));
  }

  /** Removes the effects of `owner`. */
  remove(owner: number, effects: readonly Effect[]): void {
    if (effects.length === 0) return;
    this.#size -= 1;
    // Several effects of one owner on one field are removed together. The second time nothing is
    // left to do.
    const done = effects.length > 1 ? new Set<OwnedEffects>() : undefined;
    for (const effect of effects) {
      const row = this.#table(effect.table).rows.get(effect.key);
      if (row === undefined) continue;
      for (let index = row.fields.length - 1; index >= 0; index -= 1) {
        const { name, effects: pending } = row.fields[index] as PendingField;
        if (!isRemoval(effect) && name !== effect.field) continue;
        if (done?.has(pending) === true) continue;
        done?.add(pending);
        pending.remove(owner);
        if (pending.isEmpty) row.fields.splice(index, 1);
      }
      row.presence.remove(owner);
      if (row.fields.length === 0 && row.presence.size === 0) this.#forget(effect);
    }
  }

  covers(table: string, key: string): boolean {
    return this.#tables.get(table)?.rows.has(key) === true;
  }

  read(table: string, key: string, field: string): unknown {
    const base = this.#base.read(table, key, field);
    const row = this.#tables.get(table)?.rows.get(key);
    const pending = row === undefined ? undefined : getPendingField(row, field);
    return pending === undefined ? base : pending.applyTo(base);
  }

  has(table: string, key: string): boolean {
    const row = this.#tables.get(table)?.rows.get(key);
    return row === undefined
      ? this.#base.has(table, key)
      : row.presence.applyTo(() => this.#base.has(table, key));
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    const { rows } = this.#table(range.table);
    const below = this.#base.scan(range, reverse);
    if (rows.size === 0) return below;
    const own =
      range.field === undefined
        ? this.#ownKeys(range, reverse)
        : this.#ownValues(range, rows, reverse);
    return mergeScans(below, own, rows, reverse);
  }

  *#ownKeys(range: ReadRange, reverse: boolean): Generator<Entry, void, undefined> {
    const table = this.#table(range.table);
    if (table.keys === undefined) {
      table.keys = new SortedEntries();
      for (const key of table.rows.keys()) table.keys.add({ value: key, key });
    }
    for (const entry of table.keys.scan(range, reverse))
      if (this.has(range.table, entry.key)) yield entry;
  }

  #ownValues(
    range: ReadRange,
    rows: ReadonlyMap<string, PendingRow>,
    reverse: boolean,
  ): Iterable<Entry> {
    const { table, field = '' } = range;
    const own = new SortedEntries();
    for (const key of rows.keys()) {
      if (!this.has(table, key)) continue;
      for (const value of getIndexedValues(this.read(table, key, field))) own.add({ value, key });
    }
    return own.scan(range, reverse);
  }

  #append(owner: number, effect: Effect): unknown {
    const { table, key, field } = effect;
    const row = this.#rowFor(effect);
    if (isRemoval(effect)) {
      for (const name of Object.keys(this.#table(table).declared.fields))
        this.#getPending(row, table, name).clear(owner);
    }
    row.presence.append(owner, !isRemoval(effect));
    if (isWholeRow(effect)) return undefined;
    return this.#getPending(row, table, field).append(
      owner,
      effect,
      this.#base.read(table, key, field),
    );
  }

  #rowFor({ table, key }: Effect): PendingRow {
    const { declared, rows, keys } = this.#table(table);
    let row = rows.get(key);
    if (row === undefined) {
      row = { fields: [], presence: new PendingPresence(declared.removable) };
      rows.set(key, row);
      keys?.add({ value: key, key });
    }
    return row;
  }

  #getPending(row: PendingRow, table: string, field: string): OwnedEffects {
    const known = getPendingField(row, field);
    if (known !== undefined) return known;
    const kind = this.#table(table).declared.fields[field]?.kind;
    if (kind === undefined) throw new Error(`no field '${table}.${field}'`);
    const effects = FIELD_KINDS[kind].pending();
    row.fields.push({ name: field, effects });
    return effects;
  }

  #table(name: string): PendingTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table '${name}'`);
    return table;
  }

  #forget({ table, key }: Effect): void {
    const { rows, keys } = this.#table(table);
    rows.delete(key);
    keys?.delete({ value: key, key });
  }
}

function getPendingField({ fields }: PendingRow, field: string): OwnedEffects | undefined {
  for (const { name, effects } of fields) if (name === field) return effects;
  return undefined;
}

/**
 * Merges two ordered scans: the rows below that are not replaced, and the rows that replace others.
 */
function* mergeScans(
  below: Iterable<Entry>,
  above: Iterable<Entry>,
  replaced: ReadonlyMap<string, PendingRow>,
  reverse: boolean,
): Generator<Entry, void, undefined> {
  const own = above[Symbol.iterator]();
  let next = own.next();
  const isFirst = (a: Entry, b: Entry): boolean =>
    reverse ? compareEntries(a, b) > 0 : compareEntries(a, b) < 0;
  for (const entry of below) {
    if (replaced.has(entry.key)) continue;
    for (; next.done !== true && isFirst(next.value, entry); next = own.next()) yield next.value;
    yield entry;
  }
  for (; next.done !== true; next = own.next()) yield next.value;
}
