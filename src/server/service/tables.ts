/**
 * Tables: rows by primary key, each with fields. The declared types give the readers of generators
 * (`readers.ts`) and the builders of effects (`effect-builders.ts`).
 */
import { check, CorrectableError } from '../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkMemberName,
  checkOptionNames,
  checkRecord,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { type Effect, isRemoval } from './records/effect.ts';
import { type Field, type ValueOf } from './fields/field-declaration.ts';
import { FIELD_BUILDERS, FIELD_KINDS, INDEXABLE_KINDS } from './fields/field-kinds.ts';
import type { Scalar } from './records/read-range.ts';

export type { Field } from './fields/field-declaration.ts';
export { boundedCounter } from './fields/bounded-counter.ts';
export { counter } from './fields/counter.ts';
export { log } from './fields/log.ts';
export { queue } from './fields/queue.ts';
export { cell, register } from './fields/register.ts';
export { set } from './fields/set.ts';
export { stock } from './fields/stock.ts';

/** A table: its fields by name, its indexed fields, and whether rows can be removed. */
export interface Table<
  F extends Fields = Fields,
  I extends string = string,
  R extends boolean = boolean,
> {
  readonly fields: F;
  readonly indexes: readonly I[];
  readonly removable: R;
  /** The partition of its rows, if it declares one. */
  readonly partition?: string | undefined;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;
/** Tables by name. */
export type Tables = Readonly<Record<string, Table>>;

/** Names of the fields that can be indexed: registers, cells and sets of strings or numbers. */
export type IndexableField<F extends Fields> = {
  [K in keyof F]: [ScalarIn<ValueOf<F[K]>>] extends [never] ? never : K;
}[keyof F] &
  string;

/** Values by which a field finds rows, or `never` if the field cannot be indexed. */
export type ScalarIn<V> = [V] extends [ReadonlySet<infer E>]
  ? Extract<E, Scalar>
  : undefined extends V
    ? OnlyScalars<Exclude<V, undefined>>
    : never;
type OnlyScalars<V> = [V] extends [Scalar] ? V : never;

/** Options of `table`. */
export interface TableOptions<I extends string = string, R extends boolean = boolean> {
  /**
   * Indexed fields, to look up rows in the order of values: `tables.notes.by.owner({ equals: 'ann'
   * })`. Default: none
   */
  readonly indexes?: readonly I[] | undefined;
  /**
   * Allows removing rows: `notes.remove(key)`. Each counter then remembers its additions, since a
   * removal affects only earlier ones. Default: `false`
   */
  readonly removable?: R | undefined;
  /**
   * The partition of its rows: one red log orders all red operations on them. `'key'`: the text
   * before the first `/` of the row's key, if the deployment has a partition of that name, and
   * `main` otherwise. Another name: that partition. `'none'`: only blue operations write the table.
   * Red ones may read it, and nothing then rejects them if it changes. It can never change once
   * there is data. Default: `main`
   */
  readonly partition?: string | undefined;
}

/**
 * Declares a table by the names and kinds of its fields.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an index names an unknown field or one that cannot
 * be indexed, or if a `removable` table has a bounded field.
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
  const { indexes = [], removable = false as R, partition } = options;
  check(Array.isArray(indexes), 'indexes', "must be a list of names, as ['owner']");
  checkOptionTypes(options, 'boolean', 'removable');
  const bounded = Object.keys(fields).find((name) => removable && fields[name]?.kind === 'bounded');
  const problem = `cannot be: '${bounded}' is bounded, and rights to what is gone would be lost`;
  check(bounded === undefined, 'removable', problem);
  for (const index of indexes) {
    const kind = fields[index]?.kind;
    if (kind !== undefined && FIELD_KINDS[kind].isIndexable === true) continue;
    const message = `'${index}' cannot be indexed: name a ${INDEXABLE_KINDS} of this table.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'indexes',
    });
  }
  checkPartition(fields, partition);
  return {
    fields,
    indexes,
    removable,
    ...(partition !== undefined && { partition }),
  };
}

/** The name of the partition must exist where the service is started. */
function checkPartition(fields: Fields, partition: unknown): void {
  check(
    partition === undefined || isNonEmptyString(partition),
    'partition',
    "must be 'key', 'none' or the name of a partition, as 'us'",
  );
  if (partition !== NO_PARTITION) return;
  const ordered = Object.entries(fields).find(
    ([, field]) => field.kind === 'bounded' || isRedOnlyField(field),
  );
  const problem = `cannot be '${NO_PARTITION}': '${ordered?.[0]}' is a ${ordered?.[1].kind} field, which needs a red log`;
  check(ordered === undefined, 'partition', problem);
}

/** The partition of a table whose rows have partitions by their keys. */
export const BY_KEY = 'key';
/** The partition of a table that only blue operations write. */
export const NO_PARTITION = 'none';

const TABLE_OPTIONS: OptionNamesOf<TableOptions> = {
  indexes: true,
  removable: true,
  partition: true,
};

function checkFields(fields: unknown): void {
  checkRecord(fields, {
    call: 'table({ balance: counter() })',
    field: 'fields',
  });
  for (const [name, field] of Object.entries(fields as object) as [string, unknown][]) {
    checkMemberName(name, `fields.${name}`);
    const path = `fields.${name}`;
    const isField = isRecord(field) && Object.hasOwn(FIELD_KINDS, String(field['kind']));
    check(isField, path, `must be made by ${FIELD_BUILDERS}, as counter()`);
    const { kind, min } = field as unknown as Field;
    const fits = kind === 'bounded' ? Number.isSafeInteger(min) : min === undefined;
    const rule = 'a bounded field has a minimum, an integer, and no other has';
    check(fits, path, `${rule}: write boundedCounter({ min: 0 })`);
  }
}

/** Whether a field is changed in the red order only. */
export function isRedOnlyField(field: Field | undefined): boolean {
  return field !== undefined && FIELD_KINDS[field.kind].isRedOnly;
}

/** Whether an effect changes a red-only field. The removal of a row changes all its fields. */
export function isRedOnly(tables: Tables, effect: Effect): boolean {
  const fields = tables[effect.table]?.fields ?? {};
  return isRemoval(effect)
    ? Object.values(fields).some(isRedOnlyField)
    : isRedOnlyField(fields[effect.field]);
}
