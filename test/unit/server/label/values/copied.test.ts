/** Copies of arguments. */
import { expect, test } from 'vitest';
import { copied } from '../../../../../src/server/label/values/copied.ts';

test.each<[string, unknown]>([
  ['plain data', { a: [1, { b: 'x' }], c: null, d: undefined }],
  ['dates and bytes', { at: new Date(5), bytes: new Uint8Array([1, 2]) }],
  ['any name', JSON.parse('{ "__proto__": { "a": 1 } }')],
])('%s → the same, and nothing of it shared', (_name, value) => {
  const copy = copied(value);
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
  expect(copied({ odd })).toEqual({ odd });
});
