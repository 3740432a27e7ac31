/**
 * Every type of CQL, and collections of them within each other, both ways: what is written by each
 * of the three ways is read by the stock driver and by cqlsh as what they wrote themselves, and
 * what the stock driver wrote is read by each way as it was meant.
 */
import cassandraDriver from 'cassandra-driver';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { implementStatements, oneRow } from '../../src/bindings/cassandra/index.ts';
import { createClient, type Client, type Operation } from '../../src/index.ts';
import { defineContract } from '../../src/contract/index.ts';
import { anyType, simpleTypes, type Typed } from '../support/cql-types.ts';
import { driverValue } from '../unit/research/cassandra-icg/driver-oracle.ts';
import { isShort, withCassandra } from './support/cassandra.ts';
import { THREE_WAYS, type Way } from './support/cassandra-read-strategies.ts';
import { cqlsh } from './support/cqlsh.ts';

const { consistencies } = cassandraDriver.types;
const it = withCassandra();
const SEED = Number(process.env['TYPES_SEED'] ?? 1);
const NESTED = isShort ? 10 : 48;
const ROWS = isShort ? 3 : 6;

/** One column of the table: its type, and a value of it for each row. */
interface Column {
  readonly typed: Typed;
  readonly cql: string;
  readonly values: readonly unknown[];
}

const userTypes = new Map<string, readonly string[]>();
const columns: readonly Column[] = [
  ...simpleTypes,
  ...fc.sample(
    anyType(userTypes).filter(({ cql }) => cql.includes('<') || cql.startsWith('ut_')),
    { numRuns: NESTED, seed: SEED },
  ),
].map((typed, at) => {
  // Without it, Cassandra keeps each item for itself, and what is empty is not there.
  const isFrozen = at % 2 === 0 && /^(list|set|map|ut_)/.test(typed.cql);
  const values = fc.sample(typed.value, { numRuns: ROWS, seed: SEED + at });
  return {
    typed,
    cql: isFrozen ? `frozen<${typed.cql}>` : typed.cql,
    values: isFrozen ? values : values.map((value) => (isNothing(value, typed) ? null : value)),
  };
});

function isNothing(value: unknown, { cql }: Typed): boolean {
  if (!/^(list|set|map|ut_)/.test(cql)) return false;
  const items = Array.isArray(value) ? value : Object.values(value as object);
  return cql.startsWith('ut_') ? items.every((item) => item === null) : items.length === 0;
}

const contract = defineContract(
  'types',
  Object.fromEntries(
    columns.flatMap((_, at) => [
      [
        `write${at}`,
        { access: 'write', args: z.object({ id: z.string(), x: z.unknown() }), result: z.void() },
      ] as const,
      [
        `read${at}`,
        { access: 'read', args: z.object({ id: z.string() }), result: z.unknown() },
      ] as const,
    ]),
  ),
);
const statements = implementStatements(
  contract,
  Object.fromEntries(
    columns.flatMap((_, at) => [
      [
        `write${at}`,
        { cql: `UPDATE types SET c${at} = :x WHERE id = :id`, isIdempotent: true },
      ] as const,
      [
        `read${at}`,
        {
          cql: `SELECT c${at} FROM types WHERE id = :id`,
          result: oneRow((row): unknown => row[`c${at}`]),
        },
      ] as const,
    ]),
  ),
);

type Build = (args: { readonly id: string; readonly x?: unknown }) => Operation;
const build = (kind: 'read' | 'write', at: number): Build =>
  (contract as unknown as Record<string, Build>)[`${kind}${at}`]!;
const opened = new Map<
  Way,
  { readonly client: Client<readonly ['weak', 'strong']>; readonly close: () => Promise<void> }
>();
let stock: cassandraDriver.Client;

beforeAll(async () => {
  if (!it.isThere) return;
  const admin = it.client('frankfurt');
  await admin.execute(`USE ${it.keyspace}`);
  for (const [name, fields] of userTypes) {
    const named = fields.map((field, n) => `f${n} ${field}`);
    await admin.execute(`CREATE TYPE ${name} (${named.join(', ')})`);
  }
  const named = columns.map(({ cql }, at) => `c${at} ${cql}`);
  await admin.execute(`CREATE TABLE types (id text PRIMARY KEY, ${named.join(', ')})`);
  const [host] = it.cluster.address('frankfurt').split(':');
  stock = new cassandraDriver.Client({
    contactPoints: [host!],
    localDataCenter: 'eu',
    keyspace: it.keyspace,
    encoding: { map: Map },
  });
  const written = columns.flatMap(({ typed, values }, at) =>
    values.map(async (value, row) => {
      const params = [driverValue(value, typed.type), `stock ${row}`];
      const write = `UPDATE types SET c${at} = ? WHERE id = ?`;
      await stock.execute(write, params, { prepare: true, consistency: consistencies.all });
    }),
  );
  await Promise.all(written);
  for (const way of THREE_WAYS) {
    const { binding, close } = await way.open(it, { statements, contract });
    opened.set(way, { client: createClient(binding), close });
  }
}, 300_000);

afterAll(async () => {
  await Promise.all(Array.from(opened.values(), ({ close }) => close()));
  await stock?.shutdown();
});

/** Each value that the way can carry, with its place. */
function cellsFor(
  way: Way,
): { readonly at: number; readonly row: number; readonly value: unknown; readonly cql: string }[] {
  const isFar = way.name.startsWith('gateway');
  const cells = columns.flatMap(({ values, cql }, at) =>
    values.map((value, row) => ({ at, row, value, cql })),
  );
  return cells.filter(({ value }) => !isFar || travels(value));
}

/** What the wire refuses: docs/reference/wire-protocol.md has the list. */
function travels(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Date ||
    value instanceof Uint8Array
  )
    return true;
  return !Object.hasOwn(value, '__proto__') && Object.values(value).every(travels);
}

const named = THREE_WAYS.map((way) => [way.name, way] as const);

test.each(named)(
  'types: written by the stock driver, read by %s → the values that were meant, in both views',
  async (_, way) => {
    const { client } = opened.get(way)!;
    const checks = cellsFor(way).map(async ({ at, row, value, cql }) => {
      for await (const view of client.invoke(build('read', at)({ id: `stock ${row}` }))) {
        expect({ cql, value: view.value }).toEqual({ cql, value });
      }
    });
    await Promise.all(checks);
  },
);

test.each(named)(
  'types: written by %s → the stock driver and cqlsh read what the stock driver wrote',
  async (_, way) => {
    const { client } = opened.get(way)!;
    const cells = cellsFor(way);
    const idBy = (by: string, row: number): string => `${by} ${row}`;
    await Promise.all(
      cells.map(({ at, row, value }) =>
        client.invoke(build('write', at)({ id: idBy(way.name, row), x: value })),
      ),
    );
    const readBy = async (
      by: string,
      { at, row }: { readonly at: number; readonly row: number },
    ): Promise<unknown> => {
      const options = { prepare: true, consistency: consistencies.all };
      const { rows } = await stock.execute(
        `SELECT c${at} FROM types WHERE id = ?`,
        [idBy(by, row)],
        options,
      );
      return rows[0]?.[`c${at}`] as unknown;
    };
    const checks = cells.map(async (cell) => {
      const { cql } = cell;
      expect({ cql, value: await readBy(way.name, cell) }).toEqual({
        cql,
        value: await readBy('stock', cell),
      });
    });
    await Promise.all(checks);

    const shell = await cqlsh();
    if ('missing' in shell) return;
    const shownBy = (by: string): Promise<string> => {
      const selects = Array.from({ length: ROWS }, (__, row) => {
        const same = cells.filter((cell) => cell.row === row).map(({ at }) => `c${at}`);
        return `SELECT ${same.join(', ')} FROM ${it.keyspace}.types WHERE id = '${idBy(by, row)}';`;
      });
      return shell(it.cluster.address('frankfurt'), `EXPAND ON; ${selects.join(' ')}`);
    };
    expect(await shownBy(way.name)).toBe(await shownBy('stock'));
  },
);
