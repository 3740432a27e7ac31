/**
 * Tables: rows by primary key, each with fields of the kinds below. What a service declares here types the readers that
 * its generators get and the effects that its shadow operations are made of.
 */
import type { Effect } from './effect.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import type { FieldKindName } from './fields/kinds.ts';
import type { Popped, Pushed, QueueView } from './fields/queue-view.ts';

declare const valueType: unique symbol;
declare const effectsType: unique symbol;

/** A field of a table: `V` is what generators read, `E` the builders of its effects. */
export interface Field<out V = unknown, out E = unknown> {
  readonly kind: FieldKindName;
  readonly [valueType]?: V;
  readonly [effectsType]?: E;
}

/** A table: its fields by name. */
export interface Table<F extends Fields = Fields> {
  readonly fields: F;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;
/** Tables by name. */
export type Tables = Readonly<Record<string, Table>>;

/**
 * Declares a table: its fields by name.
 *
 * @example
 * const tables = { accounts: table({ balance: counter(), owner: register<string>() }) };
 */
export function table<const F extends Fields>(fields: F): Table<F> {
  return { fields };
}

/**
 * Whole numbers that sites add to; reads as a `number`, 0 at first.
 *
 * @example
 * blue((a: { account: string; cents: number }) => [accounts.row(a.account).balance.add(a.cents)])
 */
export function counter(): Field<number, { add(amount: number): Effect<undefined, 'blue'> }> {
  return { kind: 'counter' };
}

/**
 * A value of which the last write wins; `undefined` at first.
 *
 * @example
 * blue((a: { account: string; owner: string }) => [accounts.row(a.account).owner.write(a.owner)])
 */
export function register<T>(): Field<T | undefined, { write(value: T): Effect<undefined, 'blue'> }> {
  return { kind: 'register' };
}

/**
 * A set of strings or numbers in which adding wins over a concurrent removal; reads as a `Set`.
 *
 * @example
 * blue((a: { note: string; tag: string }) => [notes.row(a.note).tags.add(a.tag)])
 */
export function set<T extends string | number>(): Field<
  ReadonlySet<T>,
  { add(element: T): Effect<undefined, 'blue'>; remove(element: T): Effect<undefined, 'blue'> }
> {
  return { kind: 'set' };
}

/**
 * Lines in the order of their times; reads as an array.
 *
 * @example
 * blue((a: { note: string; text: string }) => [notes.row(a.note).comments.append(a.text)])
 */
export function log<T>(): Field<readonly T[], { append(line: T): Effect<undefined, 'blue'> }> {
  return { kind: 'log' };
}

/**
 * A value assigned by red shadow operations only; `undefined` at first. `assign` yields the previous one.
 *
 * @example
 * red((a: { seat: string; guest: string }) => [seats.row(a.seat).guest.assign(a.guest)], ([previous]) => previous ?? null)
 */
export function cell<T>(): Field<T | undefined, { assign(value: T): Effect<T | undefined, 'red'> }> {
  return { kind: 'cell' };
}

/**
 * A first-in first-out queue, changed by red shadow operations only; reads as a `QueueView`.
 *
 * @example
 * red((a: { queue: string }) => [queues.row(a.queue).items.pop()], ([popped]) => (popped.found ? popped.item : null))
 */
export function queue<T>(): Field<
  QueueView<T>,
  { push(item: T): Effect<Pushed, 'red'>; pop(): Effect<Popped<T>, 'red'> }
> {
  return { kind: 'queue' };
}

type ValueOf<F> = F extends Field<infer V> ? V : never;
type EffectsOf<F> = F extends Field<unknown, infer E> ? E : never;

/** A row as generators and invariants read it. */
export type RowReader<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** A table as generators read it; each read is noted for certification. */
export interface TableReader<F extends Fields> {
  /** The row with this primary key; fields of an absent row read as at first. */
  row(key: string): RowReader<F>;
  /** Whether something was ever written to the row. */
  has(key: string): boolean;
  /** The primary keys in order, optionally those that begin with `prefix`, at most `limit`. */
  keys(options?: { readonly prefix?: string; readonly limit?: number }): readonly string[];
}

/** All tables as generators read them. */
export type TablesReader<T extends Tables> = { readonly [K in keyof T]: TableReader<T[K]['fields']> };

/** All tables as shadow operations name their effects: `tables.accounts.row(id).balance.add(5)`. */
export type EffectTables<T extends Tables> = {
  readonly [K in keyof T]: { row(key: string): { readonly [F in keyof T[K]['fields']]: EffectsOf<T[K]['fields'][F]> } };
};

/** The builders of effects on `tables`. */
export function effectTables<T extends Tables>(tables: T): EffectTables<T> {
  const built: Record<string, { row(key: string): unknown }> = {};
  for (const [name, { fields }] of Object.entries(tables)) built[name] = { row: rowEffects(name, fields) };
  return built as EffectTables<T>;
}

function rowEffects(tableName: string, fields: Fields): (key: string) => object {
  const kinds = Object.entries(fields).map(([field, { kind }]) => [field, FIELD_KINDS[kind]] as const);
  return (key) => {
    const row: Record<string, unknown> = {};
    for (const [field, kind] of kinds) row[field] = kind.effects({ table: tableName, key, field });
    return row;
  };
}

/** Whether an effect changes a field that is changed in the red order only. */
export function isRedOnly(tables: Tables, effect: Effect): boolean {
  const kind = tables[effect.table]?.fields[effect.field]?.kind;
  return kind !== undefined && FIELD_KINDS[kind].redOnly;
}
