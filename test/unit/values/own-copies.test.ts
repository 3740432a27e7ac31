/** Copies of arguments. */
import { expect, test } from 'vitest';
import { deepCopy, tryEqualCopy } from '../../../src/values/deep-copy.ts';

test.each<[string, unknown]>([
  ['plain data', { a: [1, { b: 'x' }], c: null, d: undefined }],
  ['dates and bytes', { at: new Date(5), bytes: new Uint8Array([1, 2]) }],
  ['any name', JSON.parse('{ "__proto__": { "a": 1 } }')],
])('%s → the same, and nothing of it shared', (_name, value) => {
  const copy = deepCopy(value);
  expect(copy).toEqual(value);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  const parts = (of: unknown): readonly unknown[] =>
    typeof of === 'object' && of !== null ? [of, ...Object.values(of).flatMap(parts)] : [];
  expect(parts(copy).filter((part) => parts(value).includes(part))).toEqual([]);
});

test('what cannot be copied stays as it is', () => {
  const odd = new (class {
    readonly f = (): number => 1;
  })();
  expect(deepCopy({ odd })).toEqual({ odd });
});

class Money {
  cents = 1;
}
class Tags extends Set<string> {}
class Lines extends Array<string> {}

test.each<[string, object]>([
  ['a class', new Money()],
  ['a class of sets', new Tags(['a'])],
  ['a class of lists', Lines.from(['a'])],
  ['addresses', new URL('http://a/')],
  ['patterns', /a/g],
  ['errors', new Error('x')],
])('of %s → itself, for no copy is equal to it', (_name, odd) => {
  expect((deepCopy({ odd }) as { odd: unknown }).odd).toBe(odd);
  expect((tryEqualCopy([odd]) as { copy: unknown[] }).copy[0]).toBe(odd);
});

test('without a prototype → a copy without one', () => {
  const value = Object.assign(Object.create(null) as object, { a: [1] });
  const copy = deepCopy(value) as object;
  expect(copy).not.toBe(value);
  expect(Object.getPrototypeOf(copy)).toBe(null);
  expect(tryEqualCopy(value)).toEqual({ copy: value });
});

test('what holds itself → a copy that does', () => {
  const value: Record<string, unknown> = {};
  value['list'] = [value];
  const copy = deepCopy(value) as { list: unknown[] };
  expect(copy).not.toBe(value);
  expect(copy.list[0]).toBe(copy);
});

test('what is something else at each look, throws at one, or is too deep → there is no equal copy', () => {
  let count = 0;
  const odd = {
    get n(): number {
      return (count += 1);
    },
  };
  const throwing = {
    get n(): number {
      throw new Error('looked at');
    },
  };
  let deep: unknown = {};
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect([odd, throwing, deep].map(tryEqualCopy)).toEqual([undefined, undefined, undefined]);
});
