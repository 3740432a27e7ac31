/** By their fingerprints two ends know which operations they have alike. */
import { afterEach, expect, test, vi } from 'vitest';
import * as full from 'zod';
import * as z from 'zod/mini';
import { hashOperation, hashOperations, hashSchema } from '../../../src/contract/schema-hash.ts';

afterEach(() => {
  vi.useRealTimers();
});

const get = { access: 'read', args: z.object({ key: z.string() }), result: z.string() };
const put = {
  access: 'write',
  args: z.object({ key: z.string(), value: z.string() }),
  result: z.null(),
};

test('operations: one is added → the others keep their fingerprints', () => {
  const before = hashOperations({ get });
  const after = hashOperations({ get, put });
  expect(after).toEqual({ get: before['get'], put: hashOperation(put) });
  expect(after['put']).not.toBe(after['get']);
});

test.each([
  ['access', { ...get, access: 'write' }],
  ['arguments', { ...get, args: z.object({ key: z.number() }) }],
  ['result', { ...get, result: z.nullable(z.string()) }],
  ['no result', { access: 'read', args: get.args }],
])('operation: another %s → another fingerprint', (_, changed) => {
  expect(hashOperation(changed)).not.toBe(hashOperation(get));
});

test.each([
  ['another name', 'records', { get, put }],
  ['an operation less', 'rows', { get }],
  ['an operation that is called otherwise', 'rows', { get, set: put }],
  [
    'another operation below a name',
    'rows',
    { get: { ...get, args: z.object({ key: z.number() }) }, put },
  ],
  ['operations that have changed names', 'rows', { get: put, put: get }],
])('contract: %s → another fingerprint', (_, name, operations) => {
  expect(hashSchema(name, operations)).not.toBe(hashSchema('rows', { get, put }));
});

test('contract: its operations in another order → the same fingerprint', () => {
  expect(hashSchema('rows', { put, get })).toBe(hashSchema('rows', { get, put }));
});

test('operation: the same schemas made again → the same fingerprint', () => {
  expect(
    hashOperation({ access: 'read', args: z.object({ key: z.string() }), result: z.string() }),
  ).toBe(hashOperation(get));
});

const hashOf = (result: z.core.$ZodType): string =>
  hashOperation({ access: 'read', args: z.null(), result });

test.each<[what: string, one: z.core.$ZodType, other: z.core.$ZodType]>([
  ['a field called error', z.object({ error: z.string() }), z.object({ error: z.number() })],
  [
    'a field called abort',
    z.object({ a: z.string(), abort: z.boolean() }),
    z.object({ a: z.string() }),
  ],
  ['a value called error', z.enum(['ok', 'error']), z.enum(['ok'])],
  ['a bigint and its digits', z.literal(5n), z.literal('5')],
  ['undefined and null', z.literal(undefined), z.literal(null)],
  [
    'bounds without end',
    z.number().check(z.maximum(Infinity)),
    z.number().check(z.maximum(-Infinity)),
  ],
  ['what a lazy schema stands for', z.lazy(() => z.string()), z.lazy(() => z.number())],
  ['a default and none', z._default(z.number(), 1), z.number()],
  ['a default and a prefault', z._default(z.number(), 1), z.prefault(z.number(), 1)],
  ['flags of a pattern', z.string().check(z.regex(/a/i)), z.string().check(z.regex(/a/))],
])('schemas that differ in %s → other fingerprints', (_, item, other) => {
  expect(hashOf(item)).not.toBe(hashOf(other));
});

test.each<[what: string, one: z.core.$ZodType, other: z.core.$ZodType]>([
  [
    'picked and written down',
    full.object({ a: full.string(), b: full.null() }).pick({ a: true }),
    z.object({ a: z.string() }),
  ],
  ['integers', full.number().int().min(1), full.int().min(1)],
  ['a format by itself and as a check', full.string().email(), z.email()],
  ['described', full.string().describe('a name'), z.string()],
  ['with another message', full.string('a name, please'), z.string()],
  [
    'with other words for a misfit',
    z.any().check(z.refine(() => true, { params: { in: 'German' }, path: ['a'] })),
    z.any().check(z.refine(() => true)),
  ],
])('schemas that mean the same, %s → one fingerprint', (_, item, other) => {
  expect(hashOf(item)).toBe(hashOf(other));
});

test.each<[what: string, one: () => unknown, other: () => unknown]>([
  ['fixed ones', () => 1, () => 2],
  ['a random one', () => crypto.randomUUID(), () => crypto.randomUUID()],
  ['one that cannot be made here', () => Object.keys(undefined as never), () => ['a']],
])(
  'defaults that differ, %s → one fingerprint: a default is of the end that fills it in',
  (_, item, other) => {
    expect(hashOf(z._default(z.any(), item))).toBe(hashOf(z._default(z.any(), other)));
  },
);

test('default that is made by a function → never run for a fingerprint, which may count or look at the time', () => {
  const make = vi.fn(() => Date.now());
  hashOf(z._default(z.number(), make));
  hashOf(z.object({ at: z.prefault(z.number(), make) }));
  expect(make).not.toHaveBeenCalled();
});

test('schema that has parsed → keeps its fingerprint', () => {
  const made = (): z.ZodMiniType => z.object({ next: z.lazy(() => z.nullable(z.string())) });
  const used = made();
  z.parse(used, { next: 'a' });
  expect(hashOf(used)).toBe(hashOf(made()));
});

test('schemas that contain themselves → end, and differ where they do', () => {
  const list = (item: z.ZodMiniType): z.ZodMiniType => {
    const itself: z.ZodMiniType = z.lazy(() => z.object({ item, next: z.nullable(itself) }));
    return itself;
  };
  expect(hashOf(list(z.string()))).toBe(hashOf(list(z.string())));
  expect(hashOf(list(z.string()))).not.toBe(hashOf(list(z.number())));
  const endless = (): z.ZodMiniType =>
    z.lazy(() => z.object({ left: endless(), right: endless() }));
  expect(hashOf(endless())).toBe(hashOf(endless()));
});
