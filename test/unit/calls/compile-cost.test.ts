/** What operations of a contract cost the compiler, in types: counts are the same on each machine. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { countTypes } from '../../support/compiler.ts';

const here = fileURLToPath(new URL('./', import.meta.url));

const PREAMBLE = `
  import * as z from 'zod';
  import { byContract, defineContract, operation } from '../../../src/contract/index.ts';
  import { createClient } from '../../../src/index.ts';
  import { defineStatements, one, cassandra } from '../../../src/bindings/cassandra/index.ts';
  import { redblue } from '../../../src/bindings/redblue/index.ts';
  import { blue, counter, defineService, table } from '../../../src/server/index.ts';
  export const all = [byContract, defineContract, operation, createClient, redblue, blue, counter, defineService, table];
  export const others = [defineStatements, one, cassandra];
`;
const ARGS =
  "args: z.object({ a: z.string(), n: z.int(), o: z.object({ x: z.array(z.string()), y: z.enum(['a', 'b']) }) })";
const RESULT = 'result: z.object({ id: z.string(), lines: z.array(z.object({ q: z.int() })) })';
const ERRORS = 'errors: { no: z.object({ why: z.string() }) }';
const FUNCTIONS = 'key: (a) => a.a, equals: (a, b) => a.id === b.id';
const UPDATE = `effect: 'update', ${ARGS}, ${RESULT}, ${ERRORS}, ${FUNCTIONS}`;

type Each = (entry: (i: number) => string) => string;

const contract = (each: Each): string =>
  `export const c = defineContract('c', { ${each((i) => `up${i}: { ${UPDATE} }`)} });`;

/** Programs by what they do with each of so many operations. */
const PROGRAMS: Readonly<Record<string, (each: Each) => string>> = {
  'a plain object': (each) =>
    `export const c = { ${each((i) => `up${i}: { effect: 'update', ${ARGS}, ${RESULT} }`)} };`,
  'a contract': contract,
  'a contract of operations that are defined apart': (each) =>
    `export const c = defineContract('c', { ${each((i) => `up${i}: operation({ ${UPDATE} })`)} });`,
  'a contract and its service': (each) => `${contract(each)}
    export const service = defineService(c, {
      tables: { rows: table({ n: counter() }) },
      shadowOperations: ({ rows }) => ({
        ${each((i) => `add${i}: blue((a: { a: string; n: number }) => [rows.row(a.a).n.add(a.n)])`)}
      }),
      generators: {
        ${each(
          (i) => `up${i}: (a, { shadow, tables, errors }) => {
            if (tables.rows.row(a.a).n > 3) throw errors.no({ why: '' });
            return shadow.add${i}(a, { id: a.a, lines: [] });
          }`,
        )}
      },
    });`,
  'a contract whose operations are invoked': (each) => `${contract(each)}
    const client = createClient(redblue(c, { url: 'ws://localhost/irl' }));
    const args = { a: 'x', n: 1, o: { x: [], y: 'a' } } as const;
    export const calls = [${each((i) => `client.invoke(c.up${i}({ ...args, o: { ...args.o, x: [] } }))`)}] as const;`,
  'a contract with handlers': (each) =>
    `${contract(each)} export const handle = byContract(c, { ${each((i) => `up${i}: ({ a, n }) => a.repeat(n)`)} });`,
  'statements of Cassandra': (each) => `export const statements = defineStatements({
    ${each((i) => `up${i}: { effect: 'read', cql: 'SELECT', ${ARGS}, result: one((row) => row['name'] as string) }`)}
  });`,
};

function typesOf(program: (each: Each) => string, operations: number): number {
  const each: Each = (entry) => Array.from({ length: operations }, (_, i) => entry(i)).join(',\n');
  return countTypes(`${here}cost.ts`, `${PREAMBLE}${program(each)}`);
}

/** At 100 operations each costs what it costs at 12, or less. */
test.each(Object.entries(PROGRAMS))('%s: an operation costs the compiler at most 300 types', (_, program) => {
  expect((typesOf(program, 12) - typesOf(program, 2)) / 10).toBeLessThan(300);
});
