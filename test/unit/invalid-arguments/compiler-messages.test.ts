/**
 * Wrong calls, as the compiler reports them: it names what is missing or misspelt. `@ts-expect-error` accepts any
 * error.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { problemsOf } from '../../support/compiler.ts';

const here = fileURLToPath(new URL('./', import.meta.url));

const PREAMBLE = `
  import { z } from 'zod';
  import { tiered } from '../../../src/bindings/tiered/index.ts';
  import { memory } from '../../../src/bindings/memory/index.ts';
  import { createHandler } from '../../../src/contract/index.ts';
  import { createClient } from '../../../src/index.ts';
  import { get } from '../../../src/operations/index.ts';
  import { defineContract } from '../../../src/contract/index.ts';
  import { blue, counter, defineService, table } from '../../../src/server/index.ts';
  const shop = defineContract('shop', {
    add: { access: 'write', args: z.object({ n: z.int() }), result: z.null() },
    buy: { access: 'write', args: z.object({ n: z.int() }), result: z.null() },
    left: { access: 'read', args: z.object({}), result: z.int() },
  });
  const tables = { rows: table({ n: counter() }) };
  const store = createClient(memory());
  export const all = [tiered, createHandler, get, blue, defineService, shop, tables, store];
`;

const add = 'add: (a, { shadow }) => shadow.add(a, null)';
const buy = 'buy: ({ n }, { shadow }) => shadow.add({ n: -n }, null)';
const left = "left: (_, context) => context.tables.rows.row('r').n";

/** A service of the shop with these generators. */
const serviceOf = (...generators: readonly string[]): string => `defineService(shop, {
  tables,
  shadowOperations: ({ rows }) => ({ add: blue((a: { n: number }) => [rows.row('r').n.add(a.n)]) }),
  generators: { ${generators.join(', ')} },
})`;

/** What is wrong, the call, and what the compiler's first complaint has. */
const MISTAKES: readonly (readonly [what: string, call: string, ...messages: readonly string[]])[] =
  [
    [
      'a generator is missing',
      serviceOf(add, left),
      "defineService: no generator for the operation 'buy'",
    ],
    [
      'two are missing',
      serviceOf(add),
      "defineService: no generator for the operation 'buy'",
      "defineService: no generator for the operation 'left'",
    ],
    ['all are missing', serviceOf(), "defineService: no generator for the operation 'add'"],
    [
      'a generator of no operation',
      serviceOf(add, buy, left, 'sell: () => null'),
      "'sell' does not exist",
    ],
    [
      'a level that the store does not have',
      "store.invoke(get('k'), { levels: ['stronk'] })",
      `'"stronk"'`,
      `"strong"`,
    ],
    [
      'a level without a function',
      "tiered(['cache', 'origin'], { cache: () => 1 })",
      "'origin' is missing",
    ],
    [
      'a function of no level',
      "tiered(['origin'], { origin: () => 1, cahce: () => 1 })",
      "'cahce' does not exist",
    ],
    [
      'a handler of no operation',
      'createHandler(shop, { sell: () => 1 })',
      "'sell' does not exist",
    ],
  ];

const RIGHT = ['right', serviceOf(add, buy, left)] as const;

const files = new Map(
  [RIGHT, ...MISTAKES].map(([description, call]) => [
    `${here}${description}.ts`,
    `${PREAMBLE}export const made = ${call};\n`,
  ]),
);
const problems = problemsOf(files);
const messagesOf = (description: string): string[] =>
  problems.filter(({ file }) => file === `${here}${description}.ts`).map(({ message }) => message);

test.each(MISTAKES)('%s → the compiler names it', (description, _call, ...messages) => {
  for (const text of messages) expect(messagesOf(description)[0]).toContain(text);
});

test('a service with all its generators → no complaint', () => {
  expect(messagesOf('right')).toEqual([]);
});
