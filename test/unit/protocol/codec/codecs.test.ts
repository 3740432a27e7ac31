/** What both codecs do alike: the value domain, what they refuse to send, frames. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EncodedField,
  canFitFrame,
  packFrames,
  type Codec,
} from '../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../../../src/protocol/codec/msgpack-codec.ts';

const CODECS = [
  ['json', jsonCodec],
  ['msgpack', msgpackCodec],
] as const;

function throughTheWire(codec: Codec, value: unknown): unknown {
  const [row] = codec.decode(codec.frame([codec.encodeMessage([1, 'view', 0, 0, value])]));
  return (row as unknown[])[4];
}

const plainKey = fc.string().filter((key) => key !== '__proto__');
const { value: domain } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, undefined, true, false),
    fc.string({ unit: 'binary' }),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((number) => (number === 0 ? 0 : number)),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.array(tie('value')),
    fc.dictionary(
      fc.oneof(plainKey, fc.constantFrom('$date', '$bytes', '$x', '$$', '$')),
      tie('defined'),
      {
        noNullPrototype: true,
      },
    ),
  ),
  defined: fc
    .oneof(fc.integer(), fc.string(), fc.bigInt(), tie('value'))
    .map((value) => value ?? null),
}));

describe.each(CODECS)('%s codec: value domain', (_name, codec) => {
  test('any value of the domain → comes out as it went in', () => {
    fc.assert(
      fc.property(domain, (value) => {
        expect(throughTheWire(codec, value)).toStrictEqual(value);
      }),
    );
  });

  test('encoding → does not touch the value', () => {
    fc.assert(
      fc.property(domain, (value) => {
        const before = structuredClone(value);
        codec.encodeValue(value);
        expect(value).toStrictEqual(before);
      }),
    );
  });

  test('property that is undefined → left out; undefined elsewhere → kept', () => {
    expect(throughTheWire(codec, { a: undefined, b: [undefined] })).toStrictEqual({
      b: [undefined],
    });
    expect(throughTheWire(codec, undefined)).toBeUndefined();
  });

  test('-0 → 0', () => {
    expect(Object.is(throughTheWire(codec, [-0]), [0])).toBe(false);
    expect(Object.is((throughTheWire(codec, [-0]) as number[])[0], 0)).toBe(true);
  });

  test('a method toJSON that no key shows → not asked', () => {
    class Listed extends Array<unknown> {
      toJSON(): unknown {
        return 'another';
      }
    }
    const hidden = Object.defineProperty({ a: [1] }, 'toJSON', { value: () => 'another' });
    expect(throughTheWire(codec, Listed.from([1, hidden]))).toStrictEqual([1, { a: [1] }]);
  });

  test('Buffer → bytes', () => {
    expect(throughTheWire(codec, Buffer.from('abc'))).toStrictEqual(new Uint8Array([97, 98, 99]));
  });

  test('encoded field → the same as the field itself', () => {
    const value = { at: new Date(5), $: [1n] };
    const spliced = codec.encodeMessage([
      1,
      'view',
      0,
      0,
      new EncodedField(codec.encodeValue(value)),
      'a"b',
      null,
    ]);
    const whole = codec.encodeMessage([1, 'view', 0, 0, value, 'a"b', null]);
    expect(codec.frame([spliced])).toEqual(codec.frame([whole]));
  });
});

describe.each(CODECS)('%s codec: refuses to send', (_name, codec) => {
  test('an instance of a class that hides its name → rejected', () => {
    const odd: unknown = Object.create({ constructor: undefined, a: 1 });
    expect(() => codec.encodeValue(odd)).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE' }),
    );
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  const withProto = JSON.parse('{"a":{"__proto__":1}}') as unknown;
  class Account {
    balance = 1;
  }
  test.each([
    ['NaN', { a: [Number.NaN] }, 'args.a.0'],
    ['Infinity', Infinity, 'args'],
    ['a function', { f: () => 1 }, 'args.f'],
    ['a symbol', [Symbol('s')], 'args.0'],
    ['a Map', { m: new Map() }, 'args.m'],
    ['a class instance', new Account(), 'args'],
    ['a typed array that is not bytes', new Float64Array(1), 'args'],
    ['an invalid Date', new Date(Number.NaN), 'args'],
    ['an enormous bigint', 10n ** 1024n, 'args'],
    ['the key __proto__', withProto, 'args.a'],
    ['half of a surrogate pair', ['\ud800'], 'args.0'],
    ['a key with half of a surrogate pair', { a: { '\udc00': 1 } }, 'args.a'],
  ])('%s → INVALID_VALUE naming the field', (_, value, field) => {
    expect(() => codec.encodeValue(value, 'args')).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE', field }) as Error,
    );
  });

  test('a cycle → INVALID_VALUE, not a stack overflow', () => {
    expect(() => codec.encodeValue(cycle)).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE' }) as Error,
    );
  });
});

describe.each(CODECS)('%s codec: frames', (_name, codec) => {
  const row = (text: string) => codec.encodeMessage([1, 'submit', 'a', 'read', 1, text]);

  test('rows beyond the size limit → several frames, none above it, all rows in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1 }),
        (texts) => {
          const rows = texts.map(row);
          const frames = packFrames(codec, rows, 400);
          for (const frame of frames) expect(Buffer.byteLength(frame)).toBeLessThanOrEqual(400);
          expect(
            frames
              .flatMap((frame) => codec.decode(frame))
              .map((decoded) => (decoded as unknown[])[5]),
          ).toEqual(texts);
        },
      ),
    );
  });

  test('row that fits exactly → fits; one byte more → does not', () => {
    const encoded = row('x'.repeat(100));
    const needed = packFrames(codec, [encoded], Infinity)[0] as Uint8Array | string;
    const overhead = 9;
    expect(needed.length).toBeLessThanOrEqual(codec.byteLength(encoded) + overhead);
    expect(canFitFrame(codec, encoded, codec.byteLength(encoded) + overhead)).toBe(true);
    expect(canFitFrame(codec, encoded, codec.byteLength(encoded) + overhead - 1)).toBe(false);
  });

  test('rows of several ticks, out of order → the frame holds them in the order given', () => {
    const rows = [row('a'), row('b'), row('c')] as const;
    const frame = codec.frame([rows[0], rows[2], rows[1]]);
    expect(codec.decode(frame).map((decoded) => (decoded as unknown[])[5])).toEqual([
      'a',
      'c',
      'b',
    ]);
  });

  test.each([
    [320, [320]],
    [321, [161, 160]],
    [700, [234, 234, 232]],
  ])('%i small rows → frames of at most 320, about as many rows in each', (count, sizes) => {
    const rows = Array.from({ length: count }, () => row(''));
    const frames = packFrames(codec, rows, Infinity);
    expect(frames.map((frame) => codec.decode(frame).length)).toEqual(sizes);
  });
});
