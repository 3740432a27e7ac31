/** The recipes of the page, with stand-ins of the vendors' clients. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Tier } from '../../src/bindings/tiered/index.ts';
import { withDetails } from '../../src/bindings/tiered/index.ts';
import type { Binding } from '../../src/correctable/binding.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { get, put } from '../../src/operations/index.ts';
import { root } from '../support/run-program.ts';
import { readPage } from './guide.ts';

interface Recipes {
  dynamo(documents: object): Binding;
  mongo(pages: object): Binding;
  firestoreTiers(firestore: object, doc: (key: string) => string): Binding;
  pgliteBeside(database: object, server: Tier): Promise<Binding>;
}

mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/recipes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'recipes.ts');
writeFileSync(file, (await readPage('guides/hosted-databases')).program);
const recipes = (await import(/* @vite-ignore */ file)) as Recipes;

interface Row {
  readonly body: unknown;
  readonly revision: number;
}

/** A table, and a copy of it that follows when the test says so. The copy is nearer. */
class Table {
  #rows = new Map<string, Row>();
  #copy = new Map<string, Row>();

  async read(key: string, isNear: boolean): Promise<Row | undefined> {
    if (isNear) return this.#copy.get(key);
    await new Promise(setImmediate);
    return this.#rows.get(key);
  }

  write(key: string, body: unknown): Row {
    const row = { body, revision: (this.#rows.get(key)?.revision ?? 0) + 1 };
    this.#rows.set(key, row);
    return row;
  }

  catchUp(): void {
    this.#copy = new Map(this.#rows);
  }
}

const table = new Table();

/** The client has what the copy has, and a session only what it may see. */
async function checkRecipe(binding: Binding, of: Pick<Table, 'catchUp'> = table): Promise<void> {
  const client = createClient(binding);
  const [weak, strong] = client.levels;
  const read = async (options = {}): Promise<string[]> => {
    const views: string[] = [];
    for await (const { level, value } of client.invoke(get('k'), options))
      views.push(`${level} ${String(value)}`);
    return views;
  };
  await client.invoke(put('k', 'first'));
  of.catchUp();
  await read(); // A cache is filled.
  of.catchUp();
  const session = client.session();
  await client.invoke(put('k', 'second'), { session });
  expect(await read({ session })).toEqual([`${strong} second`]);
  of.catchUp();
  expect(await read({ session })).toEqual([`${weak} second`, `${strong} second`]);
  await client.close();
}

test('DynamoDB', async () => {
  const calls: object[] = [];
  const documents = {
    async get(input: { Key: { id: string }; ConsistentRead: boolean }) {
      const row = await table.read(input.Key.id, !input.ConsistentRead);
      return { Item: row && { id: input.Key.id, ...row } };
    },
    async update(input: {
      Key: { id: string };
      ExpressionAttributeValues: Record<string, unknown>;
    }) {
      calls.push(input);
      const { revision } = table.write(input.Key.id, input.ExpressionAttributeValues[':body']);
      return { Attributes: { revision } };
    },
  };
  await checkRecipe(recipes.dynamo(documents));
  expect(calls[0]).toMatchObject({
    TableName: 'pages',
    UpdateExpression: 'SET body = :body ADD revision :one',
  });
});

test('MongoDB', async () => {
  const pages = {
    async findOne({ _id }: { _id: string }, { readPreference }: { readPreference: string }) {
      const row = await table.read(_id, readPreference === 'nearest');
      return row === undefined ? null : { _id, ...row };
    },
    async findOneAndUpdate({ _id }: { _id: string }, update: { $set: { body: unknown } }) {
      return { _id, ...table.write(_id, update.$set.body) };
    },
  };
  await checkRecipe(recipes.mongo(pages));
});

test('Firestore: a device without a copy skips its level', async () => {
  const firestore = {
    async getDocFromCache(key: string) {
      const row = await table.read(key, true);
      if (row === undefined) throw new Error('unavailable');
      return { data: () => row };
    },
    async getDocFromServer(key: string) {
      const row = await table.read(key, false);
      return { data: () => row };
    },
    async setDoc(key: string, { body }: { body: unknown }) {
      table.write(key, body);
    },
    increment: (by: number) => by,
  };
  const client = createClient(recipes.firestoreTiers(firestore, (key) => key));
  expect(await client.invokeWeak(get('absent'))).toBeUndefined(); // by the server
  const session = client.session();
  await client.invoke(put('k', 'third'), { session });
  const views: unknown[] = [];
  for await (const { level, value } of client.invoke(get('k'), { session }))
    views.push([level, value]);
  expect(views).toEqual([['server', 'third']]);
  table.catchUp();
  expect((await client.invoke(get('k')).when('cache')).value).toBe('third');
  await client.close();
});

test('PGlite beside a server', async () => {
  const copies = new Map<string, string>();
  const database = {
    exec: async () => [],
    async query(sql: string, [key = '', view = '']: readonly string[]) {
      if (sql.startsWith('INSERT')) copies.set(key, view);
      if (sql.startsWith('DELETE')) copies.delete(key);
      const found = copies.get(key);
      return { rows: found === undefined ? [] : [{ view: found }] };
    },
  };
  const server: Tier = async ({ access, key = '', args }) => {
    if (access === 'write') {
      const { revision } = table.write(key, (args as { value: unknown }).value);
      return withDetails(undefined, { version: revision });
    }
    const row = await table.read(key, false);
    return row && withDetails(row.body, { version: row.revision });
  };
  await checkRecipe(await recipes.pgliteBeside(database, server), { catchUp: () => {} });
});
