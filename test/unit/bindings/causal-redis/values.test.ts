/** Values as JSON: what comes back is what was written. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { decodeValue, encodeValue } from '../../../../src/bindings/causal-redis/values.ts';

const MAX_BYTES = 1_000;

class Money {
  cents = 5;
}

const SPARSE: unknown[] = [];
SPARSE[1] = 'second';
const BESIDE_A_SYMBOL = { a: 1, [Symbol('b')]: 2 };
const WITH_TO_JSON = { a: 1, toJSON: () => 'other' };

test.each<[string, unknown, string]>([
  ['NaN', { price: Number.NaN }, 'args.value.price'],
  ['Infinity', [1, -Infinity], 'args.value.1'],
  ['undefined in an object', { a: { b: undefined } }, 'args.value.a.b'],
  ['undefined in an array', [undefined], 'args.value.0'],
  ['a hole in an array', SPARSE, 'args.value.0'],
  ['a function', { run: () => 1 }, 'args.value.run'],
  ['a symbol', { a: Symbol('a') }, 'args.value.a'],
  ['a key that is a symbol', { x: BESIDE_A_SYMBOL }, 'args.value.x'],
  ['a Map', { items: [new Map([['a', 1]])] }, 'args.value.items.0'],
  ['a Set', new Set([1]), 'args.value'],
  ['bytes', { photo: new Uint8Array(2) }, 'args.value.photo'],
  ['a Date', { at: new Date(0) }, 'args.value.at'],
  ['a Date of another realm', { at: runInNewContext('new Date(0)') as unknown }, 'args.value.at'],
  ['an instance of a class', { price: new Money() }, 'args.value.price'],
  ['an object with toJSON', { a: WITH_TO_JSON }, 'args.value.a'],
])('%s → refused, with the path', (_, value, field) => {
  const refused = () => encodeValue(value, MAX_BYTES);
  expect(refused).toThrow(expect.objectContaining({ code: 'INVALID_VALUE', field }));
  expect(refused).toThrow(/was not written/);
});

test.each<[string, unknown]>([
  ['null', null],
  ['a text of half a character', '\uD800'],
  ['nested values', { a: [1, 'ü', true, null, { b: {} }], 'c.d': -1.5 }],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ['an object of another realm', runInNewContext('({ a: [1] })')],
  ['one part twice', ((part) => [part, part])({ a: 1 })],
])('%s → comes back', (_, value) => {
  expect(decodeValue(encodeValue(value, MAX_BYTES))).toEqual(structuredClone(value));
});
