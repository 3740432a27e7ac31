/**
 * The statements of the histories: each kind of write that can meet another one on the same key,
 * and reads of what they leave.
 */
import { z } from 'zod';
import {
  wasApplied,
  defineStatements,
  oneRow,
  type Row,
  type StatementBuilders,
  type Statements,
} from '../../../src/bindings/cassandra/index.ts';

const key = z.object({ key: z.string() });
const entry = z.object({ key: z.string(), value: z.string() });
const pair = z.object({ a: z.string(), b: z.string() });
const append = z.object({ key: z.string(), items: z.array(z.string()) });
const appendBoth = pair.extend({ items: z.array(z.string()) });

const table = 'things';
const insert = `INSERT INTO ${table} (key, value) VALUES`;

const specs = {
  insert: { access: 'write', cql: `${insert} (:key, :value)`, args: entry, isIdempotent: true },
  update: {
    access: 'write',
    cql: `UPDATE ${table} SET value = :value WHERE key = :key`,
    args: entry,
    isIdempotent: true,
  },
  keep: {
    access: 'write',
    cql: `${insert} (:key, :value) USING TTL 3`,
    args: entry,
    isIdempotent: true,
  },
  remove: {
    access: 'write',
    cql: `DELETE FROM ${table} WHERE key = :key`,
    args: key,
    isIdempotent: true,
  },
  batch: {
    access: 'write',
    cql: `BEGIN BATCH ${insert} (:a, :value); ${insert} (:b, :value); APPLY BATCH`,
    args: pair.extend({ value: z.string() }),
    params: ({ a, b, value }: { a: string; b: string; value: string }): unknown[] => [
      a,
      value,
      b,
      value,
    ],
    isIdempotent: true,
  },
  replace: {
    access: 'write',
    cql: `BEGIN BATCH DELETE FROM ${table} WHERE key = :a; ${insert} (:b, :value); APPLY BATCH`,
    args: pair.extend({ value: z.string() }),
    isIdempotent: true,
  },
  create: {
    access: 'write',
    cql: `${insert} (:key, :value) IF NOT EXISTS`,
    args: entry,
    result: wasApplied(),
  },
  /** Where it is made, its answer has no `value`: the result does not fit. */
  claim: {
    access: 'write',
    cql: `${insert} (:key, :value) IF NOT EXISTS`,
    args: entry,
    result: oneRow(z.object({ value: z.string() })),
  },
  swap: {
    access: 'write',
    cql: `UPDATE ${table} SET value = :value WHERE key = :key IF value = :expected`,
    args: entry.extend({ expected: z.string() }),
    result: wasApplied(),
  },
  row: {
    access: 'read',
    cql: `SELECT value, WRITETIME(value) AS written FROM ${table} WHERE key = :key`,
    args: key,
    result: oneRow((row: Row) => row['value'], { version: 'written' }),
  },
  append: {
    access: 'write',
    cql: `UPDATE ${table} SET items = items + :items WHERE key = :key`,
    args: append,
  },
  appendBoth: {
    access: 'write',
    cql:
      `BEGIN UNLOGGED BATCH UPDATE ${table} SET items = items + :items WHERE key = :a; ` +
      `UPDATE ${table} SET items = items + :items WHERE key = :b; APPLY BATCH`,
    args: appendBoth,
    params: ({ a, b, items }: { a: string; b: string; items: string[] }): unknown[] => [
      items,
      a,
      items,
      b,
    ],
  },
  appendIn: {
    access: 'write',
    cql: `UPDATE ${table} SET items = items + :items WHERE key IN (:a, :b)`,
    args: appendBoth,
  },
  list: {
    access: 'read',
    cql: `SELECT items FROM ${table} WHERE key = :key`,
    args: key,
    result: oneRow((row: Row) => row['items']),
  },
  count: { access: 'write', cql: 'UPDATE counters SET n = n + 1 WHERE key = :key', args: key },
  countBoth: {
    access: 'write',
    cql: 'BEGIN COUNTER BATCH UPDATE counters SET n = n + 1 WHERE key = :a; UPDATE counters SET n = n + 1 WHERE key = :b; APPLY BATCH',
    args: pair,
  },
  writeTyped: {
    access: 'write',
    cql: `UPDATE ${table} SET d = :d, m = :m WHERE key = :key`,
    args: z.object({ key: z.string(), d: z.string(), m: z.unknown() }),
    isIdempotent: true,
  },
  typed: {
    access: 'read',
    cql: `SELECT d, m FROM ${table} WHERE key = :key`,
    args: key,
    result: oneRow((row: Row) => row),
  },
  shape: {
    access: 'read',
    cql: 'SELECT w FROM shapes WHERE key = :key',
    args: key,
    result: oneRow((row: Row) => row['w']),
  },
} as const;

export const statements: Statements & StatementBuilders<typeof specs> = defineStatements(specs);
