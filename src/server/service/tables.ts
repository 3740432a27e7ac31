/**
 * Tables: rows by primary key, each with fields of the kinds below. What a
 * service declares here types the readers that its generators get
 * (`table-readers.ts`) and the effects that its shadow operations are made of
 * (`table-effects.ts`).
 */
import { check, CorrectableError } from '../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkMemberName,
  checkOptionNames,
  checkRecord,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type { Effect, EffectByRights } from '../records/effect.ts';
import { FIELD_KINDS, type FieldKindName } from './fields/field-kinds.ts';
import type { BoundedView } from './fields/ledger.ts';
import type {
  PopResult,
  PushResult,
  QueueView,
} from './fields/pending-queue.ts';
import type { AddResult, TakeResult, TakeOptions } from './fields/stock.ts';
import type { Scalar } from '../records/read-range.ts';
import { isRemoval } from './row-effects.ts';

declare const valueType: unique symbol;
declare const effectsType: unique symbol;

/**
 * A field of a table. `V` is its value in generators, `E` has the builders of
 * its effects.
 */
export interface Field<out V = unknown, out E = unknown> {
  readonly kind: FieldKindName;
  /** Minimum of a bounded field. */
  readonly min?: number | undefined;
  readonly [valueType]?: V;
  readonly [effectsType]?: E;
}

/**
 * A table: its fields by name, its indexed fields, and whether rows can be
 * removed.
 */
export interface Table<
  F extends Fields = Fields,
  I extends string = string,
  R extends boolean = boolean,
> {
  readonly fields: F;
  readonly indexes: readonly I[];
  readonly removable: R;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;
/** Tables by name. */
export type Tables = Readonly<Record<string, Table>>;

/**
 * Names of the fields that can be indexed: registers, cells and sets of strings
 * or numbers.
 */
export type IndexableField<F extends Fields> = {
  [K in keyof F]: [ScalarIn<ValueOf<F[K]>>] extends [never] ? never : K;
}[keyof F] &
  string;

/**
 * Values by which a field finds rows, or `never` if the field cannot be
 * indexed.
 */
export type ScalarIn<V> = [V] extends [ReadonlySet<infer E>]
  ? Extract<E, Scalar>
  : undefined extends V
    ? OnlyScalars<Exclude<V, undefined>>
    : never;
type OnlyScalars<V> = [V] extends [Scalar] ? V : never;

/** Options of `table`. */
export interface TableOptions<
  I extends string = string,
  R extends boolean = boolean,
> {
  /**
   * Indexed fields, to look up rows in the order of values:
   * `tables.notes.by.owner({ equals: 'ann' })`. Default: none
   */
  readonly indexes?: readonly I[] | undefined;
  /**
   * Allows removing rows: `notes.remove(key)`. Each counter then remembers its
   * additions, since a removal affects only earlier ones. Default: `false`
   */
  readonly removable?: R | undefined;
}

/**
 * Declares a table by the names and kinds of its fields.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an index names an unknown
 * field or one that cannot be indexed, or if a `removable` table has a bounded
 * field.
 * @example
 * const tables = {
 *   accounts: table({ balance: counter(), owner: register<string>() }, { indexes: ['owner'] }),
 *   carts: table({ quantity: counter() }, { removable: true }),
 * };
 */
export function table<
  const F extends Fields,
  const I extends IndexableField<F> = never,
  const R extends boolean = false,
>(fields: F, options: TableOptions<I, R> = {}): Table<F, I, R> {
  checkFields(fields);
  checkOptionNames(
    options,
    { call: "table({ owner: register() }, { indexes: ['owner'] })" },
    TABLE_OPTIONS,
  );
  const { indexes = [], removable = false as R } = options;
  check(
    Array.isArray(indexes),
    'indexes',
    "must be a list of names, as ['owner']",
  );
  checkOptionTypes(options, 'boolean', 'removable');
  const bounded = Object.keys(fields).find(
    (name) => removable && fields[name]?.kind === 'bounded',
  );
  const problem = `cannot be: '${bounded}' is bounded, and rights to what is gone would be lost`;
  check(bounded === undefined, 'removable', problem);
  for (const index of indexes) {
    const kind = fields[index]?.kind;
    if (kind !== undefined && FIELD_KINDS[kind].isIndexable === true) continue;
    const message = `'${index}' cannot be indexed: name a register, cell or set of this table.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'indexes',
    });
  }
  return { fields, indexes, removable };
}

const TABLE_OPTIONS: OptionNamesOf<TableOptions> = {
  indexes: true,
  removable: true,
};

function checkFields(fields: unknown): void {
  checkRecord(fields, {
    call: 'table({ balance: counter() })',
    field: 'fields',
  });
  for (const [name, field] of Object.entries(fields as object) as [
    string,
    unknown,
  ][]) {
    checkMemberName(name, `fields.${name}`);
    const place = `fields.${name}`;
    const isField =
      isRecord(field) && Object.hasOwn(FIELD_KINDS, String(field['kind']));
    const makers =
      'counter, register, set, log, cell, queue, stock or boundedCounter';
    check(isField, place, `must be made by ${makers}, as counter()`);
    const { kind, min } = field as unknown as Field;
    const fits =
      kind === 'bounded' ? Number.isSafeInteger(min) : min === undefined;
    const rule = 'a bounded field has a minimum, an integer, and no other has';
    check(fits, place, `${rule}: write boundedCounter({ min: 0 })`);
  }
}

/**
 * Creates a field of a kind that has no options. It rejects options, since it
 * would ignore them.
 */
function createPlainField(
  kind: FieldKindName,
  value: readonly unknown[],
): Field {
  const advice = `write ${kind}(), or boundedCounter({ min: 0 }) for a minimum`;
  check(value.length === 0, 'options', `${kind} takes none: ${advice}`);
  return { kind };
}

/**
 * Declares an integer that sites add to. Reads as a `number`, initially 0.
 *
 * @example
 * blue((a: { account: string; cents: number }) => [accounts.row(a.account).balance.add(a.cents)])
 */
export function counter(): Field<
  number,
  { add(amount: number): Effect<undefined, 'blue', false> }
>;
export function counter(...options: readonly unknown[]): Field {
  return createPlainField('counter', options);
}

/**
 * Declares a value of which the last write wins. Initially `undefined`.
 *
 * @example
 * blue((a: { account: string; owner: string }) => [accounts.row(a.account).owner.write(a.owner)])
 */
export function register<T>(): Field<
  T | undefined,
  { write(value: T): Effect<undefined, 'blue', false> }
>;
export function register(...options: readonly unknown[]): Field {
  return createPlainField('register', options);
}

/**
 * Declares a set of strings or numbers. An addition wins over a concurrent
 * removal. Reads as a `Set` in order: numbers by size, then strings by UTF-16
 * code units. The first read after a change takes about 1 µs an element, later
 * ones do not. If you only test for elements of a large set that changes often,
 * use a table with a row for each.
 *
 * @example
 * blue((a: { note: string; tag: string }) => [notes.row(a.note).tags.add(a.tag)])
 */
export function set<T extends string | number>(): Field<
  ReadonlySet<T>,
  {
    add(element: T): Effect<undefined, 'blue', false>;
    remove(element: T): Effect<undefined, 'blue', false>;
  }
>;
export function set(...options: readonly unknown[]): Field {
  return createPlainField('set', options);
}

/**
 * Declares lines in the order of their times. Reads as an array.
 *
 * @example
 * blue((a: { note: string; text: string }) => [notes.row(a.note).comments.append(a.text)])
 */
export function log<T>(): Field<
  readonly T[],
  { append(line: T): Effect<undefined, 'blue', false> }
>;
export function log(...options: readonly unknown[]): Field {
  return createPlainField('log', options);
}

/**
 * Declares a value that only red shadow operations assign. Initially
 * `undefined`. `assign` returns the previous value.
 *
 * @example red((a: { seat: string; guest: string }) => [seats.row(a.seat).guest.assign(a.guest)],
 * ([previous]) => previous ?? null)
 */
export function cell<T>(): Field<
  T | undefined,
  { assign(value: T): Effect<T | undefined, 'red'> }
>;
export function cell(...options: readonly unknown[]): Field {
  return createPlainField('cell', options);
}

/**
 * Declares a first-in first-out queue that only red shadow operations change.
 * Reads as a `QueueView`.
 *
 * @example red((a: { queue: string }) => [queues.row(a.queue).items.pop()], ([popped]) =>
 * (popped.found ? popped.item : null))
 */
export function queue<T>(): Field<
  QueueView<T>,
  {
    push(item: T): Effect<PushResult, 'red'>;
    pop(): Effect<PopResult<T>, 'red'>;
  }
>;
export function queue(...options: readonly unknown[]): Field {
  return createPlainField('queue', options);
}

/**
 * Declares a number with a limit that only red shadow operations change. Reads
 * as a `number`, initially 0. A `take` checks when it is applied whether there
 * is enough, and returns the answer. So concurrent takes never reject each
 * other, unlike generators that read a counter and add to it.
 *
 * @example red( (a: { event: string; seats: number }) => [events.row(a.event).seats.take(a.seats, {
 * atLeast: 0 })], ([taken]) => withMeta(taken.took, { remaining: taken.remaining }), )
 */
export function stock(): Field<
  number,
  {
    add(amount: number): Effect<AddResult, 'red'>;
    take(amount: number, options?: TakeOptions): Effect<TakeResult, 'red'>;
  }
>;
export function stock(...options: readonly unknown[]): Field {
  return createPlainField('stock', options);
}

const BOUNDED_COUNTER_OPTIONS: OptionNamesOf<{ readonly min: number }> = {
  min: true,
};

/**
 * Declares a number that never falls below `min`, although sites take from it
 * without coordination. Reads as a `BoundedView`. Initially `min`; `give` adds
 * to it. Each site has rights to a share of the amount above `min`. Rights move
 * to the sites that use them. A `take` in a blue shadow operation is blue, and
 * final at once, if the site has enough rights. Otherwise it is red. So an
 * operation that its contract declares blue cannot choose it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `min` is missing or no
 * integer.
 * @example sell: blue((a: { event: string; seats: number }) =>
 * [events.row(a.event).seats.take(a.seats)]), // … sell: (args, { tables, shadow }) =>
 * tables.events.row(args.event).seats.left < args.seats ? { sold: false } : shadow.sell(args, {
 * sold: true }),
 */
export function boundedCounter(options: { readonly min: number }): Field<
  BoundedView,
  {
    give(amount: number): Effect<undefined, 'blue', false>;
    take(amount: number): EffectByRights;
  }
> {
  checkOptionNames(
    options,
    { call: 'boundedCounter({ min: 0 })' },
    BOUNDED_COUNTER_OPTIONS,
  );
  const { min } = options;
  check(
    Number.isSafeInteger(min),
    'min',
    'must be an integer, as boundedCounter({ min: 0 })',
  );
  return { kind: 'bounded', min };
}

/** The value of a field, as generators read it. */
export type ValueOf<F> = F extends Field<infer V> ? V : never;
/** The builders of a field's effects. */
export type EffectsOf<F> = F extends Field<unknown, infer E> ? E : never;

/** Whether a field is changed in the red order only. */
export function isRedOnlyField(field: Field | undefined): boolean {
  return field !== undefined && FIELD_KINDS[field.kind].isRedOnly;
}

/**
 * Whether an effect changes a field that is changed in the red order only; the
 * removal of a row changes all its fields.
 */
export function isRedOnly(tables: Tables, effect: Effect): boolean {
  const fields = tables[effect.table]?.fields ?? {};
  return isRemoval(effect)
    ? Object.values(fields).some(isRedOnlyField)
    : isRedOnlyField(fields[effect.field]);
}
