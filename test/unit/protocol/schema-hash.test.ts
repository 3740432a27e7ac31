/** By their fingerprints two ends know which operations they have alike. */
import { afterEach, expect, test, vi } from 'vitest';
import * as full from 'zod';
import * as z from 'zod/mini';
import { operationHash, operationHashes } from '../../../src/protocol/schema-hash.ts';

afterEach(() => {
  vi.useRealTimers();
});

const get = { effect: 'read', args: z.object({ key: z.string() }), result: z.string() };
const put = { effect: 'update', args: z.object({ key: z.string(), value: z.string() }), result: z.null() };

test('operations: one is added → the others keep their fingerprints', () => {
  const before = operationHashes({ get });
  const after = operationHashes({ get, put });
  expect(after).toEqual({ get: before['get'], put: operationHash(put) });
  expect(after['put']).not.toBe(after['get']);
});

test.each([
  ['effect', { ...get, effect: 'update' }],
  ['arguments', { ...get, args: z.object({ key: z.number() }) }],
  ['result', { ...get, result: z.nullable(z.string()) }],
  ['no result', { effect: 'read', args: get.args }],
])('operation: another %s → another fingerprint', (_, changed) => {
  expect(operationHash(changed)).not.toBe(operationHash(get));
});

test('operation: the same schemas made anew → the same fingerprint', () => {
  expect(operationHash({ effect: 'read', args: z.object({ key: z.string() }), result: z.string() })).toBe(
    operationHash(get),
  );
});

const hashOf = (result: z.core.$ZodType): string => operationHash({ effect: 'read', args: z.null(), result });

test.each<[what: string, one: z.core.$ZodType, other: z.core.$ZodType]>([
  ['a field called error', z.object({ error: z.string() }), z.object({ error: z.number() })],
  ['a field called abort', z.object({ a: z.string(), abort: z.boolean() }), z.object({ a: z.string() })],
  ['a value called error', z.enum(['ok', 'error']), z.enum(['ok'])],
  ['a bigint and its digits', z.literal(5n), z.literal('5')],
  ['undefined and null', z.literal(undefined), z.literal(null)],
  ['bounds without end', z.number().check(z.maximum(Infinity)), z.number().check(z.maximum(-Infinity))],
  ['what a lazy schema stands for', z.lazy(() => z.string()), z.lazy(() => z.number())],
  ['a default that does not change', z._default(z.number(), 1), z._default(z.number(), 2)],
  ['a default with the key __proto__', z._default(z.any(), JSON.parse('{"__proto__":1}')), z._default(z.any(), {})],
  ['bytes and a list', z._default(z.any(), Uint8Array.of(1)), z._default(z.any(), [1])],
  ['flags of a pattern', z.string().check(z.regex(/a/i)), z.string().check(z.regex(/a/))],
])('schemas that differ in %s → other fingerprints', (_, one, other) => {
  expect(hashOf(one)).not.toBe(hashOf(other));
});

test.each<[what: string, one: z.core.$ZodType, other: z.core.$ZodType]>([
  [
    'picked and written down',
    full.object({ a: full.string(), b: full.null() }).pick({ a: true }),
    z.object({ a: z.string() }),
  ],
  ['whole numbers', full.number().int().min(1), full.int().min(1)],
  ['a format by itself and as a check', full.string().email(), z.email()],
  ['described', full.string().describe('a name'), z.string()],
  ['with another message', full.string('a name, please'), z.string()],
  [
    'with other words for a misfit',
    z.any().check(z.refine(() => true, { params: { in: 'German' }, path: ['a'] })),
    z.any().check(z.refine(() => true)),
  ],
])('schemas that mean the same, %s → one fingerprint', (_, one, other) => {
  expect(hashOf(one)).toBe(hashOf(other));
});

test.each<[what: string, make: () => unknown]>([
  ['a random one', () => crypto.randomUUID()],
  ['the time', () => new Date()],
  ['the time as a number', () => ({ at: Date.now() })],
  ['the time in seconds', () => Math.floor(Date.now() / 1000)],
  ['the time as text', () => [new Date().toISOString()]],
  ['one that cannot be made here', () => Object.keys(undefined as never)],
  ['a promise', () => Promise.reject(new Error('nobody waits for it'))],
])('default that is computed, %s → one fingerprint whenever it is read', async (_, make) => {
  const one = hashOf(z._default(z.any(), make));
  const readAtMs = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(readAtMs);
  expect(hashOf(z._default(z.any(), make))).toBe(one);
  expect(hashOf(z.any())).not.toBe(one);
});

test.each<[what: string, make: () => unknown]>([
  ['the day', () => new Date().toISOString().slice(0, 10)],
  ['the year', () => new Date().getFullYear()],
  ['the month', () => new Date().getMonth()],
  ['the day of the week', () => [new Date().getDay()]],
  ['the hour', () => ({ hour: new Date().getUTCHours() })],
  ['whether it has begun', () => Date.now() > Date.UTC(2020, 5)],
  ['the time of another clock', () => new Map([['at', Math.floor(Date.now() / 86_400_000)]])],
  ['the time as it is called without new', () => (Date as unknown as () => string)()],
])('default that is computed of the time, %s → one fingerprint, whenever it is read', (_, make) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const hashAt = (now: number): string => {
    vi.setSystemTime(now);
    return hashOf(z._default(z.any(), make));
  };
  // Before midnight and after it, a week later, the next year.
  const times = [Date.UTC(2019, 11, 31, 23, 59), Date.UTC(2020, 0, 1), Date.UTC(2020, 0, 7), Date.UTC(2021, 6, 3, 12)];
  expect(new Set(times.map(hashAt)).size).toBe(1);
  expect(hashAt(0)).not.toBe(hashOf(z.any()));
});

test('default that is read → by a clock that is right again afterwards, also where it throws', () => {
  const RealDate = Date;
  hashOf(z._default(z.any(), () => Date.now()));
  hashOf(z._default(z.any(), () => Object.keys(undefined as never)));
  expect(Date).toBe(RealDate);
});

test('fixed default, where the clock cannot be replaced → the same fingerprint', () => {
  const fixed = (): z.ZodMiniType => z._default(z.any(), { text: 'a', at: new Date(7) });
  const elsewhere = hashOf(fixed());
  const own = Object.getOwnPropertyDescriptor(globalThis, 'Date') as PropertyDescriptor;
  Object.defineProperty(globalThis, 'Date', { ...own, writable: false });
  const here = hashOf(fixed());
  Object.defineProperty(globalThis, 'Date', own);
  expect(here).toBe(elsewhere);
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
  const endless = (): z.ZodMiniType => z.lazy(() => z.object({ left: endless(), right: endless() }));
  expect(hashOf(endless())).toBe(hashOf(endless()));
});
