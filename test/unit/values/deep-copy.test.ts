/** Copies of plain data: bytes of every kind, and what is none. */
import { describe, expect, test } from 'vitest';
import { copyPlainData, NotPlainDataError } from '../../../src/values/deep-copy.ts';
import { estimateBytes } from '../../../src/values/estimate-bytes.ts';

const bytes = (): ArrayBuffer => new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;

describe('copyOf: bytes', () => {
  const kinds: readonly (new (bytes: ArrayBuffer) => ArrayBufferView)[] = [
    Uint8Array,
    Int8Array,
    Uint8ClampedArray,
    Uint16Array,
    Int16Array,
    Uint32Array,
    Int32Array,
    Float32Array,
    Float64Array,
    BigUint64Array,
    BigInt64Array,
    DataView,
  ];

  test.each(kinds.map((Kind) => [Kind.name, Kind] as const))(
    '%s → of the same kind, of its own',
    (_, Kind) => {
      const value = new Kind(bytes());
      const { value: copy, lossyPath } = copyPlainData(value);
      expect(Object.getPrototypeOf(copy)).toBe(Kind.prototype);
      expect(copy).toEqual(value);
      expect(copy.buffer).not.toBe(value.buffer);
      expect(lossyPath).toBeUndefined();
    },
  );

  test('an ArrayBuffer → of its own', () => {
    const value = bytes();
    expect(copyPlainData(value).value).toEqual(value);
    expect(copyPlainData(value).value).not.toBe(value);
  });

  test("Node's Buffer, of a few bytes on a large one → a Buffer of these alone", () => {
    const { value: copy } = copyPlainData(Buffer.from('text'));
    expect(Buffer.isBuffer(copy)).toBe(true);
    expect(copy.toString()).toBe('text');
    expect(copy.buffer.byteLength).toBe(4);
    expect(estimateBytes(copy)).toBeLessThan(100);
  });

  class Picture extends Uint8Array {
    readonly width = 2;
  }
  // Its declared constructor is one of several.
  const View: new (bytes: ArrayBuffer) => DataView = DataView;
  class Frame extends View {}
  class Memory extends ArrayBuffer {}
  class Text extends Buffer {}

  test.each([
    ['Uint8Array', new Picture(2)],
    ['DataView', new Frame(bytes())],
    ['ArrayBuffer', new Memory(2)],
    ['Buffer', Object.setPrototypeOf(Buffer.from('text'), Text.prototype) as Buffer],
  ])('of a class that extends %s → refused, with the path', (_, value) => {
    expect(() => copyPlainData({ items: [value] })).toThrow(NotPlainDataError);
    expect(() => copyPlainData({ items: [value] })).toThrow(
      /^value\.items\.0 is an instance of \w+$/,
    );
  });
});

test('copyOf: Blobs → shared; stores would give back one of a class of its own as another', () => {
  class Attachment extends Blob {}
  for (const value of [new Blob(['a']), new File(['a'], 'a.txt')])
    expect(copyPlainData({ value })).toEqual({ value: { value }, fadesAt: undefined });
  expect(copyPlainData({ a: new Attachment(['a']) }).lossyPath).toBe('value.a');
});
