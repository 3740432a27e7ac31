/** YCSB's table on Cassandra, as in YCSB's own Cassandra binding, and the operations on it. */
import { defineStatements, oneRow } from 'correctables/bindings/cassandra';
import type { Operation } from 'correctables';
import * as z from 'zod';
import type { Keyspace } from '../../demo/shared/cassandra/keyspace.ts';
import { seeded } from '../../demo/shared/random.ts';
import { FIELD_NAMES, fieldValue, keyOf, tagOf } from '../ycsb/rows.ts';
import { LOADED, type Tags } from './history.ts';

/** The paper's "small dataset" (§6.2.1, Divergence). */
export const RECORDS = 1000;

const COLUMNS = FIELD_NAMES.join(', ');

/** The table of records by key. Reads wait for slow replicas, and do not use other ones instead. */
export const TABLE =
  `CREATE TABLE usertable (y_id text PRIMARY KEY, ${FIELD_NAMES.map((name) => `${name} text`).join(', ')}) ` +
  "WITH speculative_retry = 'NONE'";

export const SELECT = `SELECT ${COLUMNS} FROM usertable WHERE y_id = :key`;

const updateCql = (field: number): string =>
  `UPDATE usertable SET ${FIELD_NAMES[field]} = :value WHERE y_id = :key`;
const updateArgs = z.object({ key: z.string(), value: z.string() });

export const reads = defineStatements({
  read: {
    access: 'read',
    cql: SELECT,
    args: z.object({ key: z.string() }),
    result: oneRow((row) => getFields(row)),
  },
});

/** One statement for each field, because YCSB writes one field at a time. */
const updates = FIELD_NAMES.map((name, field) =>
  defineStatements({
    [name]: {
      access: 'write' as const,
      cql: updateCql(field),
      args: updateArgs,
      isIdempotent: true,
    },
  }),
);

export const statements = [reads, ...updates];

/** Writes one field of a record. */
export function update(key: string, field: number, value: string): Operation<void> {
  const build = updates[field]?.[FIELD_NAMES[field] as string];
  if (build === undefined) throw new RangeError(`there is no field ${field}`);
  return build({ key, value });
}

/** Returns the values of the fields in their order. */
export function getFields(row: Readonly<Record<string, unknown>>): (string | null)[] {
  return FIELD_NAMES.map((name) => row[name] as string | null);
}

/** Returns the tags of the writes that the values of a record come from. */
export function tagsOf(fields: readonly (string | null)[] | undefined): Tags {
  return (fields ?? []).map((value) => (value === null ? null : tagOf(value)));
}

/** Fills the table. */
export async function fillRecords(keyspace: Keyspace): Promise<void> {
  const random = seeded(1);
  const records = Array.from({ length: RECORDS }, (_, record) => [
    keyOf(record),
    ...FIELD_NAMES.map(() => fieldValue(random, LOADED)),
  ]);
  const marks = ['?', ...FIELD_NAMES.map(() => '?')].join(', ');
  await keyspace.fill(`INSERT INTO usertable (y_id, ${COLUMNS}) VALUES (${marks})`, records);
}
