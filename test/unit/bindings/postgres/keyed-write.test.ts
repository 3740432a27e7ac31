/** A write with an idempotency key, on a connection that records its statements. */
import { expect, test } from 'vitest';
import {
  identifyOperation,
  writeOnceForKey,
} from '../../../../src/bindings/postgres/keyed-write.ts';
import type {
  LentConnection,
  SqlPage,
  SqlStatement,
} from '../../../../src/bindings/postgres/connections/server.ts';
import type { SqlPlan } from '../../../../src/bindings/postgres/plan.ts';

const written: SqlPage = {
  rows: [{ period: '14 days' }],
  pageState: undefined,
  changedRows: 1,
  columnTypes: [['period', 1186, 'text']],
};

const plan: SqlPlan = {
  name: 'lend',
  access: 'write',
  isIdempotent: false,
  statement: { text: 'insert', values: [], columns: 'application' },
  interpret: ({ rows }) => ({ value: rows }),
};
const write = {
  plan,
  key: 'loan 1',
  identity: 'lend x',
  table: 'keys',
  position: { text: 'position', values: [] },
};

function connect(
  parse: LentConnection['parse'],
  answers: Readonly<Record<string, SqlPage>> = { insert: written },
) {
  const sent: SqlStatement[] = [];
  const connection: LentConnection = {
    parse,
    run: async (statements) => {
      sent.push(...statements);
      return statements.map(({ text }) => ({
        status: 'fulfilled',
        value: answers[text] ?? { rows: [], pageState: undefined },
      }));
    },
  };
  return { connection, texts: () => sent.map(({ text }) => text.split(' ')[0]), sent };
}

// @rule REPL-12
test('the result of a key is kept as PostgreSQL has sent it, and parsed again', async () => {
  const { connection, sent } = connect(({ rows }) => ({
    rows: rows.map(({ period }) => ({ period: { text: period, end: Infinity } })),
    pageState: undefined,
  }));
  const { page } = await writeOnceForKey(connection, write);
  expect(page.rows).toEqual([{ period: { text: '14 days', end: Infinity } }]);
  const store = sent.find(({ text }) => text.startsWith('update'));
  expect(JSON.parse(store?.values[1] as string)).toMatchObject({ rows: written.rows });
});

// @rule REPL-12
test('a parser that throws ends the transaction, and nothing is written', async () => {
  const { connection, texts } = connect(() => {
    throw new RangeError('no such date');
  });
  await expect(writeOnceForKey(connection, write)).rejects.toMatchObject({
    code: 'INVALID_VALUE',
    message: expect.stringContaining('no such date. Nothing was written.'),
  });
  expect(texts()).toEqual(['begin', 'select', 'insert', 'select', 'insert', 'rollback']);
});

// @rule REPL-4
test('arguments that are no data are refused before anything is sent', () => {
  const args: Record<string, unknown> = {
    many: Array.from({ length: 20_000 }, (_, n) => n),
    at: new (class At {})(),
  };
  expect(() => identifyOperation({ name: 'lend', args, access: 'write' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.at' }),
  );
  const withProto = JSON.parse('{ "__proto__": { "a": 1 } }') as unknown;
  expect(identifyOperation({ name: 'lend', args: withProto, access: 'write' })).toMatch(/^lend /);
});
