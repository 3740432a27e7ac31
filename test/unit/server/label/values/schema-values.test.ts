/** Arguments that are drawn from schemas: such as the contract takes, and such as operations meet by. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inputSchemaOf, type JsonSchema } from '../../../../../src/protocol/contract/json-schema.ts';
import { defineContract } from '../../../../../src/protocol/contract/contract.ts';
import type { Schema } from '../../../../../src/protocol/contract/schema-parts.ts';
import { Random } from '../../../../../src/server/collections/random.ts';
import { Arguments } from '../../../../../src/server/label/values/arguments.ts';
import { Pool, drawValue, scopeOf, type Scope } from '../../../../../src/server/label/values/schema-values.ts';

const DRAWS = 300;

/** Many values of a schema. */
function drawn(schema: Schema, pool = new Pool()): readonly unknown[] {
  const random = new Random(1);
  const json = inputSchemaOf(schema);
  return Array.from({ length: DRAWS }, (_, n) => drawValue(json, 'it', { random, pool, scope: scopeOf(n) }));
}

const person: z.ZodType = z.object({ name: z.string(), boss: z.lazy(() => person).nullable() });

describe('what a schema takes is what is drawn', () => {
  test.each<[string, z.ZodType]>([
    ['texts of a length', z.string().min(3).max(5)],
    ['texts of a format', z.email()],
    ['whole numbers above 0', z.int().positive()],
    ['whole numbers within bounds', z.int().min(10).max(12)],
    ['multiples', z.number().multipleOf(5).min(0)],
    ['choices', z.enum(['up', 'down'])],
    ['one value', z.literal('only')],
    ['unions', z.union([z.int(), z.string().min(1), z.null()])],
    [
      'kinds',
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('a'), n: z.int() }),
        z.object({ kind: z.literal('b') }),
      ]),
    ],
    ['lists of a length', z.array(z.boolean()).min(2).max(4)],
    ['tuples', z.tuple([z.string(), z.int()])],
    ['records', z.record(z.string(), z.int())],
    ['both', z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() }))],
    ['defaults', z.object({ n: z.int().default(3) })],
    ['what refers to itself', person],
  ])('%s', (_name, schema) => {
    expect(drawn(schema).filter((value) => !schema.safeParse(value).success)).toEqual([]);
  });

  test('what may be left out is left out, and is there', () => {
    const values = drawn(z.object({ n: z.int().optional() })) as readonly object[];
    expect(new Set(values.map((value) => 'n' in value))).toEqual(new Set([true, false]));
  });

  test('what several schemas ask together is all there', () => {
    const partOf = (name: string): JsonSchema => {
      return { type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] };
    };
    const random = new Random(1);
    const values = Array.from({ length: 20 }, () =>
      drawValue({ allOf: [partOf('a'), partOf('b')] }, 'it', { random, pool: new Pool(), scope: scopeOf(1) }),
    );
    expect(values.map((value) => Object.keys(value as object))).toEqual(values.map(() => ['a', 'b']));
  });

  test('what has several of its own kind in it comes to an end', () => {
    const tree: z.ZodType = z.object({ left: z.lazy(() => sub), middle: z.lazy(() => sub), right: z.lazy(() => sub) });
    const sub: z.ZodType = z.union([tree, z.null()]);
    expect(drawn(tree)).toHaveLength(DRAWS);
  });

  test('far bounds come only where numbers are as large', () => {
    const far = (scope: Scope): boolean => {
      const random = new Random(1);
      const json = inputSchemaOf(z.int().min(1).max(9000));
      const values = Array.from({ length: DRAWS }, () => drawValue(json, 'it', { random, pool: new Pool(), scope }));
      return values.some((value) => (value as number) > 1000);
    };
    expect([far(scopeOf(0)), far(scopeOf(3))]).toEqual([false, true]);
  });

  test('bounds and what is next to them come', () => {
    expect(drawn(z.int().min(10).max(9000))).toEqual(expect.arrayContaining([10, 11, 8999, 9000]));
  });
});

describe('operations meet', () => {
  test('by texts and numbers that stand in the run, first those of the same name', () => {
    const pool = new Pool();
    pool.note('order', { it: 'o-17', others: ['x', { it: 40 }] });
    const values = drawn(z.union([z.string(), z.int()]), pool);
    expect(values).toEqual(expect.arrayContaining(['o-17', 39, 40, 41]));
    expect(pool.texts('it')).toEqual(['o-17']);
    expect(pool.texts()).toEqual(['o-17', 'x']);
  });

  test('by few names: a quarter of the rounds knows one', () => {
    const random = new Random(1);
    const names = Array.from({ length: DRAWS }, () =>
      drawValue({ type: 'string' }, 'it', { random, pool: new Pool(), scope: scopeOf(4) }),
    );
    expect(new Set(names)).toEqual(new Set(['a']));
  });
});

describe('arguments of a contract', () => {
  const even = z.int().refine((n) => n % 2 === 0);
  const contract = defineContract('odd', {
    even: { effect: 'update', args: z.object({ n: even }), result: z.null() },
    dated: { effect: 'update', args: z.object({ at: z.date() }), result: z.null() },
  });
  const from = { random: new Random(1), pool: new Pool(), scope: scopeOf(1) };

  test('what no JSON Schema says is drawn anew until the contract takes it', () => {
    const args = new Arguments(contract);
    const values = Array.from({ length: 50 }, () => args.draw('even', 'n1', from)?.args as { n: number });
    expect(values.filter(({ n }) => n % 2 !== 0)).toEqual([]);
  });

  test('what cannot be drawn is nothing, unless the author draws it', () => {
    expect(new Arguments(contract).draw('dated', 'n1', from)).toBeUndefined();
    const at = new Date(0);
    const drawn = new Arguments(contract, { dated: () => ({ at }) }).draw('dated', 'n1', from);
    expect(drawn).toEqual({ args: { at }, parsed: { at } });
  });

  test('an operation whose name all objects know is drawn by its schema', () => {
    const named = defineContract('named', { valueOf: { effect: 'update', args: z.object({}), result: z.null() } });
    expect(new Arguments(named).draw('valueOf', 'n1', from)).toEqual({ args: {}, parsed: {} });
  });

  test('a generator gets an object of its own each time', () => {
    const args = new Arguments(contract);
    const given = { n: 2 };
    expect(args.parsed('even', given)).toEqual(given);
    expect(args.parsed('even', given)).not.toBe(args.parsed('even', given));
    const booking = { n: 4 };
    const drawn = new Arguments(contract, { even: () => booking }).draw('even', 'n1', from);
    expect(drawn).toEqual({ args: booking, parsed: booking });
    expect(new Set([booking, drawn?.args, drawn?.parsed]).size).toBe(3);
  });
});
