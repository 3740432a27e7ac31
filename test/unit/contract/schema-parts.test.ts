/** What is looked into of a schema: whether what it gives is its own. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/v4-mini';
import { canCreateObject } from '../../../src/contract/schema-parts.ts';

const n = z.int();
const shared = { n: 1 };

test.each([
  ['an object', z.object({ n })],
  ['a strict one', z.strictObject({ n })],
  ['a loose one', z.looseObject({ n })],
  ['one with a description', z.object({ n }).describe('a number').meta({ id: 'own' })],
  ['one of zod/mini', mini.object({ n: mini.int() })],
])('%s → an object of its own each time', (_, schema) => {
  expect(canCreateObject(schema)).toBe(true);
  const value = { n: 1 };
  expect(z.parse(schema, value)).not.toBe(value);
  expect(z.parse(schema, value)).not.toBe(z.parse(schema, value));
});

test.each([
  [
    'a check, which may give another',
    z.object({ n }).check((context) => void (context.value = shared)),
  ],
  ['a part under a symbol', z.object({ n, [Symbol('more')]: z.any().default(shared) } as never)],
  ['a condition', z.object({ n }).refine(() => true)],
  ['a transformation', z.object({ n }).transform(() => shared)],
  ['a default', z.object({ n }).default(shared)],
  ['what is read only', z.object({ n }).readonly()],
  ['one of several', z.union([z.object({ n }), z.object({ m: n })])],
  ['one that comes later', z.lazy(() => z.object({ n }))],
  ['any', z.any()],
  ['a text', z.string()],
  ['a list', z.array(n)],
])('%s → not known to be its own', (_, schema) => {
  expect(canCreateObject(schema)).toBe(false);
});
