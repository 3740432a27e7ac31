/** The faults of D1 that its local server, Miniflare, can have. */
import { expect, onTestFinished } from 'vitest';
import { d1 as bind, migrations, type D1DatabaseLike } from '../../../src/bindings/d1/index.ts';
import { createClient, type CorrectableError } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { runAlone, withLocalD1 } from '../../support/d1.ts';
import { d1 } from './columns/d1.ts';
import { describeFaults, unreadable } from './support/matrix.ts';

const local = withLocalD1();

function open(database: D1DatabaseLike) {
  const client = createClient(bind({ database, tokenKey: 'a secret of all Workers' }));
  onTestFinished(() => client.close());
  return client;
}

async function getOutcome(operation: PromiseLike<unknown>): Promise<string> {
  return await operation.then(
    () => 'done',
    (error: unknown) => (error as CorrectableError).code,
  );
}

/** A database whose answers a test can lose after the statement was executed. */
function losing(database: D1DatabaseLike, isLost: () => boolean): D1DatabaseLike {
  return {
    withSession(constraint) {
      const session = database.withSession(constraint);
      return {
        prepare: (sql) => session.prepare(sql),
        batch: (statements) => session.batch(statements),
        getBookmark: () => session.getBookmark(),
        ...(isLost() && {
          prepare: (sql: string) => {
            const statement = session.prepare(sql);
            return {
              bind: (...values: unknown[]) => {
                const bound = statement.bind(...values);
                const all = async (): Promise<never> => {
                  await bound.all();
                  throw new Error('D1_ERROR: Network connection lost.');
                };
                return { bind: () => bound, all };
              },
              all: () => statement.all(),
            };
          },
        }),
      };
    },
  };
}

describeFaults(d1, {
  cut: async () => {
    const { primary } = await local.open();
    let isLost = false;
    const client = open(losing(primary, () => isLost));
    await client.invoke(put('name', 'Ada'));
    isLost = true;
    expect(await getOutcome(client.invoke(put('name', 'Bob')))).toBe('UNKNOWN');
    expect(await getOutcome(client.invokeStrong(get('name')))).toBe('UNAVAILABLE');
    isLost = false;
    expect(await client.invokeStrong(get('name'))).toBe('Bob');
  },

  migration: async () => {
    const { primary } = await local.open();
    const client = open(primary);
    await client.invoke(put('name', 'Ada'));
    await runAlone(primary, 'alter table correctables_values add column note text');
    expect(await client.invoke(get('name'))).toBe('Ada');
    await client.invoke(put('name', 'Bob'));
    await runAlone(primary, 'drop table correctables_values');
    expect(await getOutcome(client.invoke(put('name', 'Cleo')))).toBe('FINAL_FAILED');
    await runAlone(primary, migrations());
    await client.invoke(put('name', 'Dan'));
    expect(await client.invoke(get('name'))).toBe('Dan');
  },

  foreignValue: async () => {
    const { primary } = await local.open();
    const client = open(primary);
    await client.invoke(put('good', 1));
    await runAlone(
      primary,
      "insert into correctables_values (key, value) values ('bad', 'no JSON')",
    );
    await expect(client.invoke(get('bad'))).rejects.toMatchObject(unreadable('bad'));
    expect(await client.invokeWeak(get('good'))).toBe(1);
    await client.invoke(put('bad', 2));
    expect(await client.invoke(get('bad'))).toBe(2);
  },

  callerLeaves: async () => {
    const { primary } = await local.open();
    const client = open(primary);
    for (let n = 0; n < 10; n += 1) {
      const controller = new AbortController();
      const write = getOutcome(client.invoke(put('name', n), { signal: controller.signal }));
      setTimeout(() => controller.abort(), n % 3);
      const outcome = await write;
      expect(['done', 'UNKNOWN', 'ABORTED']).toContain(outcome);
      if (outcome === 'done') expect(await client.invokeStrong(get('name'))).toBe(n);
    }
    await client.invoke(put('name', 'last'));
    expect(await client.invokeStrong(get('name'))).toBe('last');
  },
});
