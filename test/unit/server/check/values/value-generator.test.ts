/**
 * Arguments that are drawn from schemas: such as the contract takes, and such as operations meet
 * by.
 */
// @rule RB-K9
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toInputJsonSchema, type JsonSchema } from '../../../../../src/contract/json-schema.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import type { Schema } from '../../../../../src/contract/schema-parts.ts';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { ArgumentGenerator } from '../../../../../src/server/check/values/argument-generator.ts';
import {
  ValuePool,
  drawValue,
  getScope,
  type ValueScope,
} from '../../../../../src/server/check/values/value-generator.ts';

const DRAWS = 300;

/** Many values of a schema. */
function drawn(schema: Schema, pool = new ValuePool()): readonly unknown[] {
  const random = new Random(1);
  const json = toInputJsonSchema(schema);
  return Array.from({ length: DRAWS }, (_, n) =>
    drawValue(json, 'it', { random, pool, scope: getScope(n) }),
  );
}

const person: z.ZodType = z.object({ name: z.string(), boss: z.lazy(() => person).nullable() });

describe('what a schema takes is what is drawn', () => {
  test.each<[string, z.ZodType]>([
    ['texts of a length', z.string().min(3).max(5)],
    ['texts of a format', z.email()],
    ['integers above 0', z.int().positive()],
    ['integers within bounds', z.int().min(10).max(12)],
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
    const getPart = (name: string): JsonSchema => {
      return { type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] };
    };
    const random = new Random(1);
    const values = Array.from({ length: 20 }, () =>
      drawValue({ allOf: [getPart('a'), getPart('b')] }, 'it', {
        random,
        pool: new ValuePool(),
        scope: getScope(1),
      }),
    );
    expect(values.map((value) => Object.keys(value as object))).toEqual(
      values.map(() => ['a', 'b']),
    );
  });

  test('what has several of its own kind in it comes to an end', () => {
    const tree: z.ZodType = z.object({
      left: z.lazy(() => sub),
      middle: z.lazy(() => sub),
      right: z.lazy(() => sub),
    });
    const sub: z.ZodType = z.union([tree, z.null()]);
    expect(drawn(tree)).toHaveLength(DRAWS);
  });

  test('far bounds come only where numbers are as large', () => {
    const far = (scope: ValueScope): boolean => {
      const random = new Random(1);
      const json = toInputJsonSchema(z.int().min(1).max(9000));
      const values = Array.from({ length: DRAWS }, () =>
        drawValue(json, 'it', { random, pool: new ValuePool(), scope }),
      );
      return values.some((value) => (value as number) > 1000);
    };
    expect([far(getScope(0)), far(getScope(3))]).toEqual([false, true]);
  });

  test('bounds and what is next to them come', () => {
    expect(drawn(z.int().min(10).max(9000))).toEqual(expect.arrayContaining([10, 11, 8999, 9000]));
  });
});

describe('operations meet', () => {
  test('by texts and numbers that stand in the run, first those of the same name', () => {
    const pool = new ValuePool();
    pool.note('order', { it: 'o-17', others: ['x', { it: 40 }] });
    const values = drawn(z.union([z.string(), z.int()]), pool);
    expect(values).toEqual(expect.arrayContaining(['o-17', 39, 40, 41]));
    expect(pool.texts('it')).toEqual(['o-17']);
    expect(pool.texts()).toEqual(['o-17', 'x']);
  });

  test('by few names: a quarter of the rounds knows one', () => {
    const random = new Random(1);
    const names = Array.from({ length: DRAWS }, () =>
      drawValue({ type: 'string' }, 'it', { random, pool: new ValuePool(), scope: getScope(4) }),
    );
    expect(new Set(names)).toEqual(new Set(['a']));
  });
});

describe('arguments of a contract', () => {
  const even = z.int().refine((n) => n % 2 === 0);
  const contract = defineContract('odd', {
    even: { access: 'write', args: z.object({ n: even }), result: z.null() },
    dated: { access: 'write', args: z.object({ at: z.date() }), result: z.null() },
  });
  const from = { random: new Random(1), pool: new ValuePool(), scope: getScope(1) };

  test('values that JSON Schema cannot describe are drawn again until the contract accepts them', () => {
    const args = new ArgumentGenerator(contract);
    const values = Array.from(
      { length: 50 },
      () => args.draw('even', 'n1', from)?.args as { n: number },
    );
    expect(values.filter(({ n }) => n % 2 !== 0)).toEqual([]);
  });

  test('what cannot be drawn is nothing, unless the author draws it', () => {
    expect(new ArgumentGenerator(contract).draw('dated', 'n1', from)).toBeUndefined();
    const at = new Date(0);
    const generated = new ArgumentGenerator(contract, { dated: () => ({ at }) }).draw(
      'dated',
      'n1',
      from,
    );
    expect(generated).toEqual({ args: { at }, parsed: { at } });
  });

  test('an operation whose name all objects know is drawn by its schema', () => {
    const named = defineContract('named', {
      valueOf: { access: 'write', args: z.object({}), result: z.null() },
    });
    expect(new ArgumentGenerator(named).draw('valueOf', 'n1', from)).toEqual({
      args: {},
      parsed: {},
    });
  });

  test('a generator gets an object of its own each time', () => {
    const args = new ArgumentGenerator(contract);
    const value = { n: 2 };
    expect(args.parse('even', value)).toEqual(value);
    expect(args.parse('even', value)).not.toBe(args.parse('even', value));
    const booking = { n: 4 };
    const generated = new ArgumentGenerator(contract, { even: () => booking }).draw(
      'even',
      'n1',
      from,
    );
    expect(generated).toEqual({ args: booking, parsed: booking });
    expect(new Set([booking, generated?.args, generated?.parsed]).size).toBe(3);
  });
});
