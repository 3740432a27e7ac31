/**
 * Levels follow from the consistencies, arguments and results from the statements, and no type
 * needs the driver.
 */
import type cassandraDriver from 'cassandra-driver';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { z as mini } from 'zod/mini';
import {
  wasApplied,
  cassandra,
  defineStatements,
  implementStatements,
  oneRow,
  page,
  rows,
  statement,
  type CassandraDriver,
  type CassandraOptions,
  type Consistency,
  type FinalLevel,
  type ResultPage,
} from '../../src/bindings/cassandra/index.ts';
import { createClient, type Operation } from '../../src/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';

const base = { contactPoints: ['frankfurt:9042'], keyspace: 'shop' } as const;

describe('levels', () => {
  test('by default: weak, strong', () => {
    expectTypeOf(createClient(cassandra(base)).levels).toEqualTypeOf<readonly ['weak', 'strong']>();
    expectTypeOf(
      createClient(cassandra({ contactPoints: ['a'], keyspace: 'b' })).strongest,
    ).toEqualTypeOf<'strong'>();
  });

  test('R + W > N does not hold for sure → quorum', () => {
    expectTypeOf(
      createClient(cassandra({ ...base, write: 'ONE' })).strongest,
    ).toEqualTypeOf<'quorum'>();
    expectTypeOf(
      cassandra({ ...base, read: 'TWO', write: 'TWO' }).consistencyLevels(),
    ).toEqualTypeOf<readonly ['weak', 'quorum']>();
    expectTypeOf<FinalLevel<'LOCAL_QUORUM', 'LOCAL_QUORUM', false>>().toEqualTypeOf<'quorum'>();
    expectTypeOf<FinalLevel<'LOCAL_QUORUM', 'QUORUM', false>>().toEqualTypeOf<'quorum'>();
  });

  test('it holds whatever the replication → strong', () => {
    expectTypeOf(
      createClient(cassandra({ ...base, read: 'ALL', write: 'ONE' })).strongest,
    ).toEqualTypeOf<'strong'>();
    expectTypeOf<FinalLevel<'LOCAL_QUORUM', 'EACH_QUORUM', false>>().toEqualTypeOf<'strong'>();
    const single = {
      ...base,
      read: 'LOCAL_QUORUM',
      write: 'LOCAL_QUORUM',
      singleDataCenter: true,
    } as const;
    expectTypeOf(createClient(cassandra(single)).strongest).toEqualTypeOf<'strong'>();
  });

  test('not known to the compiler → both names', () => {
    expectTypeOf<FinalLevel<Consistency, 'QUORUM', false>>().toEqualTypeOf<'strong' | 'quorum'>();
    const options: CassandraOptions = { ...base, write: 'ONE' };
    expectTypeOf(cassandra(options).consistencyLevels()).toEqualTypeOf<
      readonly ['weak', 'strong' | 'quorum']
    >();
    const some = { ...base, write: 'QUORUM' as Consistency };
    expectTypeOf(cassandra(some).consistencyLevels()).toEqualTypeOf<
      readonly ['weak', 'strong' | 'quorum']
    >();
  });

  test('a level that the binding does not have → refused', () => {
    const client = createClient(cassandra({ ...base, write: 'ONE' }));
    const read: Operation<number> = { name: 'get', args: {}, access: 'read' };
    // @ts-expect-error its final level is called quorum
    client.invoke(read, { levels: ['strong'] });
    // @ts-expect-error no consistency of this name
    cassandra({ ...base, read: 'SOME' });
  });
});

const user = z.object({ user: z.string(), limit: z.string().transform(Number).optional() });

describe('statements', () => {
  const posts = defineStatements({
    name: {
      access: 'read',
      cql: 'SELECT …',
      args: user,
      result: oneRow((row) => String(row['name'])),
    },
    all: {
      access: 'read',
      cql: 'SELECT …',
      args: user,
      result: rows(z.object({ at: z.number() })),
    },
    timeline: {
      access: 'read',
      cql: 'SELECT …',
      args: user,
      result: page(mini.object({ at: mini.number() })),
    },
    write: {
      access: 'write',
      cql: 'INSERT …',
      args: mini.object({ user: mini.string(), body: mini.string() }),
    },
    claim: { access: 'write', cql: 'INSERT … IF NOT EXISTS', args: user, result: wasApplied() },
    counted: statement({
      access: 'write',
      cql: 'UPDATE … SET n = n + ? WHERE user = ?',
      args: user,
      key: (args) => args.user,
      params: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ user: string; limit?: number | undefined }>();
        return [args.limit, args.user];
      },
    }),
  });

  test('builders: arguments as the schema takes them, results as the rows become', () => {
    expectTypeOf(posts.name).toEqualTypeOf<
      (args: { user: string; limit?: string | undefined }) => Operation<string | undefined>
    >();
    expectTypeOf(posts.all({ user: 'ada' })).toEqualTypeOf<Operation<{ at: number }[]>>();
    expectTypeOf(posts.timeline({ user: 'ada' })).toEqualTypeOf<
      Operation<ResultPage<{ at: number }>>
    >();
    expectTypeOf(posts.write({ user: 'ada', body: 'hi' })).toEqualTypeOf<Operation<void>>();
    expectTypeOf(posts.claim({ user: 'ada' })).toEqualTypeOf<Operation<boolean>>();
    expectTypeOf(posts.counted({ user: 'ada' })).toEqualTypeOf<Operation<void>>();
    // @ts-expect-error an argument is missing
    posts.write({ user: 'ada' });
    // @ts-expect-error not what the schema takes
    posts.name({ user: 'ada', limit: 5 });
    // @ts-expect-error no statement of this name
    void posts.other;
  });

  test('binding: takes catalogues; views are typed by the statement', () => {
    const client = createClient(cassandra({ ...base, statements: [posts] }));
    client
      .invoke(posts.all({ user: 'ada' }))
      .onUpdate((value) => expectTypeOf(value).toEqualTypeOf<{ at: number }[]>());
    // @ts-expect-error not made by defineStatements
    cassandra({ ...base, statements: { name: {} } });
  });
});

describe('contract', () => {
  const contract = defineContract('posts', {
    ...keyValueOperations,
    count: { access: 'read', args: user, result: z.number().optional() },
  });

  test('implementation: its parameters and its result are those of the contract', () => {
    implementStatements(contract, {
      count: {
        cql: 'SELECT …',
        params: (args) => {
          expectTypeOf(args).toEqualTypeOf<{ user: string; limit?: number | undefined }>();
          return [args.user];
        },
        result: oneRow((row) => Number(row['n'])),
      },
    });
    implementStatements(contract, {
      // @ts-expect-error the contract has a number
      count: { cql: 'SELECT …', result: oneRow((row) => String(row['n'])) },
    });
    // @ts-expect-error an operation has no statement
    implementStatements(contract, {});
  });
});

test('driver: the module cassandra-driver fits, and options with it', () => {
  expectTypeOf<typeof cassandraDriver>().toExtend<CassandraDriver>();
  expectTypeOf<CassandraOptions['clientOptions']>().toEqualTypeOf<object | undefined>();
});
