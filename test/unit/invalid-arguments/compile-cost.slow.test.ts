/**
 * What operations of a contract cost the compiler, in types: counts are the same on each machine.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { countTypes } from '../../support/compiler.ts';

const here = fileURLToPath(new URL('./', import.meta.url));

const PREAMBLE = `
  import * as z from 'zod';
  import { createHandler, defineContract, operation } from '../../../src/contract/index.ts';
  import { createClient } from '../../../src/index.ts';
  import { defineStatements, oneRow, cassandra } from '../../../src/bindings/cassandra/index.ts';
  import { redblue } from '../../../src/bindings/redblue/index.ts';
  import { blue, counter, defineService, table } from '../../../src/server/index.ts';
  export const all = [createHandler, defineContract, operation, createClient, redblue, blue, counter, defineService, table];
  export const others = [defineStatements, oneRow, cassandra];
`;
const ARGS =
  "args: z.object({ a: z.string(), n: z.int(), o: z.object({ x: z.array(z.string()), y: z.enum(['a', 'b']) }) })";
const RESULT = 'result: z.object({ id: z.string(), lines: z.array(z.object({ q: z.int() })) })';
const ERRORS = 'errors: { no: z.object({ why: z.string() }) }';
const FUNCTIONS = 'key: (a) => a.a, equals: (a, b) => a.id === b.id';
const UPDATE = `access: 'write', ${ARGS}, ${RESULT}, ${ERRORS}, ${FUNCTIONS}`;

type Each = (entry: (i: number) => string) => string;

const contract = (item: Each): string =>
  `export const c = defineContract('c', { ${item((i) => `up${i}: { ${UPDATE} }`)} });`;

/** Programs by what they do with each of so many operations. */
const PROGRAMS: Readonly<Record<string, (item: Each) => string>> = {
  'a contract and its service': (item) => `${contract(item)}
    export const service = defineService(c, {
      tables: { rows: table({ n: counter() }) },
      shadowOperations: ({ rows }) => ({
        ${item((i) => `add${i}: blue((a: { a: string; n: number }) => [rows.row(a.a).n.add(a.n)])`)}
      }),
      generators: {
        ${item(
          (i) => `up${i}: (a, { shadow, tables, errors }) => {
            if (tables.rows.row(a.a).n > 3) throw errors.no({ why: '' });
            return shadow.add${i}(a, { id: a.a, lines: [] });
          }`,
        )}
      },
    });`,
  'a plain object': (item) =>
    `export const c = { ${item((i) => `up${i}: { access: 'write', ${ARGS}, ${RESULT} }`)} };`,
  'a contract': contract,
  'a contract of operations that are defined apart': (item) =>
    `export const c = defineContract('c', { ${item((i) => `up${i}: operation({ ${UPDATE} })`)} });`,
  'a contract whose operations are invoked': (item) => `${contract(item)}
    const client = createClient(redblue(c, { url: 'ws://localhost/ireland' }));
    const args = { a: 'x', n: 1, o: { x: [], y: 'a' } } as const;
    export const calls = [${item((i) => `client.invoke(c.up${i}({ ...args, o: { ...args.o, x: [] } }))`)}] as const;`,
  'a contract with handlers': (item) =>
    `${contract(item)} export const handle = createHandler(c, { ${item((i) => `up${i}: ({ a }) => ({ id: a, lines: [] })`)} });`,
  'statements of Cassandra': (item) => `export const statements = defineStatements({
    ${item((i) => `up${i}: { access: 'read', cql: 'SELECT', ${ARGS}, result: oneRow((row) => row['name'] as string) }`)}
  });`,
};

function typesOf(program: (item: Each) => string, operations: number): number {
  const element: Each = (entry) =>
    Array.from({ length: operations }, (_, i) => entry(i)).join(',\n');
  return countTypes(`${here}cost.ts`, `${PREAMBLE}${program(element)}`);
}

/** At 100 operations each costs what it costs at 12, or less. */
test.each(Object.entries(PROGRAMS))(
  '%s: an operation costs the compiler at most 300 types',
  (_, program) => {
    expect((typesOf(program, 12) - typesOf(program, 2)) / 10).toBeLessThan(300);
  },
);
