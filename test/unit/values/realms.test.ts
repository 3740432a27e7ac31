/**
 * Plain data of another realm (an iframe, a `vm` context, Jest) is plain data wherever values are
 * looked at.
 */
import { runInNewContext, runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cached, mapStore } from '../../../src/bindings/cache/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { tiered } from '../../../src/bindings/tiered/index.ts';
import {
  correctable,
  createClient,
  CorrectableError,
  isCorrectableError,
  structurallyEqual,
} from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { dedupeReads } from '../../../src/policies/index.ts';
import { checkPortable, copyForWire } from '../../../src/protocol/codec/portable-values.ts';
import { jsonCodec } from '../../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../../src/protocol/codec/msgpack-codec.ts';
import { parseSync } from '../../../src/contract/parse-sync.ts';
import { deepCopy, copyPlainData, NotPlainDataError } from '../../../src/values/deep-copy.ts';
import { freezeForUser, freezeWireCopy, freezeArgsCopy } from '../../../src/values/deep-freeze.ts';
import {
  estimateBytes,
  measurePlainData,
  estimateEncodedBytes,
} from '../../../src/values/estimate-bytes.ts';
import { toCanonicalString } from '../../../src/values/canonical-string.ts';

const foreign = <T>(code: string): T => runInNewContext(`(${code})`) as T;
const own = (code: string): unknown => runInThisContext(`(${code})`);

/** What travels. */
const SENT = [
  '{ a: 1, b: { c: [2, null] } }',
  '[{ a: 1 }, "x"]',
  'new Date(5)',
  'new Uint8Array([1, 2])',
  '{ at: new Date(5), bytes: new Uint8Array([9]), n: 1n }',
];
/** What is copied and compared as well. */
const KEPT = [
  ...SENT,
  'new Map([[{ k: 1 }, new Date(1)]])',
  'new Set([{ a: 1 }])',
  'new Float32Array([1.5])',
  'new ArrayBuffer(2)',
  'new DataView(new ArrayBuffer(2))',
  'Object.assign(Object.create(null), { a: [1] })',
];
const OF_CLASSES = [
  'new (class Money {})()',
  'new (class Tagged extends Map {})()',
  'new (class Fake { get [Symbol.toStringTag]() { return "Date"; } })()',
  'Object.create({})',
  // Their methods throw: they have only the prototype of a class.
  'Object.create(Map.prototype)',
  'Object.create(Set.prototype)',
  'Object.create(Date.prototype)',
  'Object.create(Array.prototype)',
  'Object.create(ArrayBuffer.prototype)',
  'Object.create(Uint8Array.prototype)',
  'new Proxy(new Map(), {})',
  'new Proxy(new Date(0), {})',
];

test.each(SENT)('%s → written by both codecs as its like of this realm is', (code) => {
  for (const codec of [jsonCodec, msgpackCodec])
    expect(codec.encodeValue(foreign(code))).toEqual(codec.encodeValue(own(code)));
  expect(() => checkPortable(foreign(code), 'args')).not.toThrow();
  expect(copyForWire(foreign(code), 'args')).toStrictEqual(own(code));
});

test.each(SENT)('%s → frozen for a site, measured and handed out as its like', (code) => {
  for (const copy of [freezeWireCopy, freezeArgsCopy]) {
    expect(copy(foreign(code))).toStrictEqual(own(code));
    expect(freezeForUser(copy(foreign(code)))).toStrictEqual(own(code));
  }
  for (const measure of [measurePlainData, estimateEncodedBytes, estimateBytes])
    expect(measure(foreign(code))).toBe(measure(own(code)));
});

test.each(KEPT)('%s → copied as its like of this realm', (code) => {
  for (const copy of [copyPlainData(foreign(code)).value, deepCopy(foreign(code))])
    expect(copy).toStrictEqual(own(code));
});

test.each(KEPT.slice(0, 7))('%s → the same text as its like, another than others', (code) => {
  expect(toCanonicalString(foreign(code))).toBeDefined();
  expect(toCanonicalString(foreign(code))).toBe(toCanonicalString(own(code)));
  expect(new Set(KEPT.slice(0, 7).map((item) => toCanonicalString(foreign(item)))).size).toBe(7);
});

test.each(OF_CLASSES)('%s → plain data nowhere', (code) => {
  for (const codec of [jsonCodec, msgpackCodec])
    expect(() => codec.encodeValue(foreign(code))).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE' }),
    );
  expect(() => copyPlainData(foreign(code))).toThrow(NotPlainDataError);
  expect(toCanonicalString(foreign(code))).toBeUndefined();
  const value = foreign(code);
  expect(deepCopy(value)).toBe(value);
  expect(freezeArgsCopy(value)).toBe(value);
  expect(structurallyEqual(value, foreign(code))).toBe(false);
});

test('views of another realm → confirm, are kept by a cache, and reads with equal arguments are shared', async () => {
  let reads = 0;
  const weak = (): unknown => foreign('{ at: new Date(5), tags: new Set(["a"]) }');
  const store = tiered(['weak', 'strong'], {
    weak,
    strong: async () => ((reads += 1), Promise.resolve(weak())),
  });
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const client = createClient(cached(store, { principal: 'a', store: mapStore(), onError }), {
    dedupeReads: dedupeReads(),
  });
  const find = () =>
    client.invoke({ name: 'find', args: foreign('{ filter: { n: 1 } }'), access: 'read' });
  await Promise.all([find(), find()]);
  expect([reads, client.stats.confirmed, client.stats.corrected, errors]).toEqual([1, 2, 0, []]);
  const again = client.invokeWeak({
    name: 'find',
    args: foreign('{ filter: { n: 1 } }'),
    access: 'read',
  });
  expect([structurallyEqual(await again, weak()), reads]).toEqual([true, 1]);
});

test('options, signals, errors and versions of another realm → taken', async () => {
  const client = createClient(
    memory(foreign<object>('{ delaysMs: { weak: 0, strong: 5 } }')),
    foreign<object>('{ timeoutMs: 5000 }'),
  );
  await client.invoke(put('k', foreign('[1]')), foreign<object>('{ timeoutMs: 5000 }'));
  expect(await client.invokeStrong(get('k'))).toEqual([1]);
  const error = foreign<Error>(
    'Object.assign(new Error("x"), { name: "CorrectableError", code: "TIMEOUT" })',
  );
  expect(error).not.toBeInstanceOf(Error);
  expect([isCorrectableError(error, 'TIMEOUT'), isCorrectableError(error, 'CONFLICT')]).toEqual([
    true,
    false,
  ]);
  expect(isCorrectableError(foreign('{ name: "CorrectableError", code: "TIMEOUT" }'))).toBe(false);
  const read = correctable<number, ['weak', 'strong']>(['weak', 'strong'], (sink) => {
    sink.view(1, 'weak', { version: foreign('new Date(2)') });
    sink.view(2, 'weak', { version: foreign('new Date(1)') });
    sink.fail(error, 'strong');
  });
  await expect(read).rejects.toBeInstanceOf(CorrectableError);
  expect(read.latest?.value).toBe(1);
});

test('a promise of another realm, given by a schema → found, as one of this realm', () => {
  const schema = z.string().refine(() => foreign<Promise<boolean>>('Promise.resolve(true)'));
  expect(() => parseSync(schema, 'a')).toThrow('Promise');
});
