/**
 * The PostgreSQL example on fakes: a pool that understands its two statements, and a replica that
 * lags.
 */
import { describe, expect, test } from 'vitest';
import type { Binding } from '../../src/correctable/binding.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { load } from './bundle.ts';

type Row = Record<string, unknown>;

/** What docs/listings/postgres.ts exports. */
interface Postgres {
  readonly wiki: (pools: {
    replica: FakePool;
    primary: FakePool;
  }) => Binding<readonly ['weak', 'strong']>;
  readonly page: (id: string) => Operation<string | null>;
  readonly edit: (id: string, body: string) => Operation<string | null>;
}

const { wiki, page, edit } = await load<Postgres>('postgres');

/** In the place of a database: a table `pages` and the two statements that the example sends. */
class FakePool {
  readonly pages: Map<string, Row>;
  readonly statements: string[] = [];
  isEnded = false;
  failure: Error | undefined;

  constructor(pages: Record<string, Row>) {
    this.pages = new Map(Object.entries(pages));
  }

  async query(text: string, [id, body]: readonly unknown[]): Promise<{ rows: Row[] }> {
    this.statements.push(text.split(' ')[0] as string);
    if (this.failure !== undefined) throw this.failure;
    const row = this.pages.get(id as string);
    if (row === undefined) return { rows: [] };
    if (text.startsWith('SELECT')) return { rows: [row] };
    const next = { body, revision: (row['revision'] as number) + 1 };
    this.pages.set(id as string, next);
    return { rows: [next] };
  }

  async end(): Promise<void> {
    this.isEnded = true;
  }
}

function setUp(): {
  replica: FakePool;
  primary: FakePool;
  client: ReturnType<typeof createClient<readonly ['weak', 'strong']>>;
} {
  const replica = new FakePool({ home: { body: 'old', revision: 1 } });
  const primary = new FakePool({ home: { body: 'new', revision: 2 } });
  return { replica, primary, client: createClient(wiki({ replica, primary })) };
}

describe('postgres: replica and primary', () => {
  test('read: the replica lags → its view first, then the primary, with revisions', async () => {
    const { client } = setUp();
    const views: unknown[] = [];
    for await (const { level, value, version } of client.invoke(page('home')))
      views.push([level, value, version]);
    expect(views).toEqual([
      ['weak', 'old', 1],
      ['strong', 'new', 2],
    ]);
  });

  test('read: no such page → null, which is an answer', async () => {
    expect(await setUp().client.invoke(page('nowhere'))).toBeNull();
  });

  test('write: any level → one statement, at the primary', async () => {
    const { client, replica, primary } = setUp();
    const view = await client.invokeWeak(edit('home', 'newer')).settle();
    expect(view).toMatchObject({ value: 'newer', level: 'strong', version: 3 });
    expect(primary.statements).toEqual(['UPDATE']);
    expect(replica.statements).toEqual([]);
  });

  test('an edit with the access of a read → UNSUPPORTED, no statement', async () => {
    const { client, replica, primary } = setUp();
    const asRead = client.invoke({ ...edit('home', 'newer'), access: 'read' });
    await expect(asRead).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect([...replica.statements, ...primary.statements]).toEqual([]);
  });

  test('close → ends both pools', async () => {
    const { client, replica, primary } = setUp();
    await client.close();
    expect([replica.isEnded, primary.isEnded]).toEqual([true, true]);
  });
});
