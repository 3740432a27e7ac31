/** The value domain through the JSON codec, and what it refuses. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EncodedField, fitsFrame, packFrames, UndecodableRow } from '../../../src/protocol/codec.ts';
import { jsonCodec } from '../../../src/protocol/json-codec.ts';

function throughTheWire(value: unknown): unknown {
  const [row] = jsonCodec.decode(jsonCodec.frame([jsonCodec.encodeRow([1, 'view', 0, 0, value])]));
  return (row as unknown[])[4];
}

const plainKey = fc.string().filter((key) => key !== '__proto__');
const { value: domain } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, undefined, true, false),
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(plainKey, fc.constantFrom('$date', '$bytes', '$x', '$$', '$')), tie('defined'), {
      noNullPrototype: true,
    }),
  ),
  defined: fc.oneof(fc.integer(), fc.string(), fc.bigInt(), tie('value')).map((value) => value ?? null),
}));

describe('JSON codec: value domain', () => {
  test('any value of the domain → comes out as it went in', () => {
    fc.assert(
      fc.property(domain, (value) => {
        expect(throughTheWire(value)).toStrictEqual(value);
      }),
    );
  });

  test('encoding → does not touch the value', () => {
    fc.assert(
      fc.property(domain, (value) => {
        const before = structuredClone(value);
        jsonCodec.encodeValue(value);
        expect(value).toStrictEqual(before);
      }),
    );
  });

  test('property that is undefined → left out; undefined elsewhere → kept', () => {
    expect(throughTheWire({ a: undefined, b: [undefined] })).toStrictEqual({ b: [undefined] });
    expect(throughTheWire(undefined)).toBeUndefined();
  });

  test('-0 → 0', () => {
    expect(Object.is(throughTheWire([-0]), [0])).toBe(false);
    expect(Object.is((throughTheWire([-0]) as number[])[0], 0)).toBe(true);
  });

  test('Buffer → bytes', () => {
    expect(throughTheWire(Buffer.from('abc'))).toStrictEqual(new Uint8Array([97, 98, 99]));
  });

  test('encoded field → the same as the field itself', () => {
    const value = { at: new Date(5), $: [1n] };
    const spliced = jsonCodec.encodeRow([1, 'view', 0, 0, new EncodedField(jsonCodec.encodeValue(value)), 'a"b', null]);
    expect(spliced).toBe(jsonCodec.encodeRow([1, 'view', 0, 0, value, 'a"b', null]));
  });
});

describe('JSON codec: refuses to send', () => {
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
  ])('%s → INVALID_VALUE naming the field', (_, value, field) => {
    expect(() => jsonCodec.encodeValue(value, 'args')).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE', field }) as Error,
    );
  });

  test('a cycle → INVALID_VALUE, not a stack overflow', () => {
    expect(() => jsonCodec.encodeValue(cycle)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }) as Error);
  });
});

describe('JSON codec: reads what is hostile', () => {
  test.each([
    ['the key __proto__', '[[1,"submit","a","read",1,{"x":{"__proto__":{"admin":true}}}]]', [5, 'x']],
    ['an unknown tag', '[[1,"submit","a","read",1,{"$evil":1}]]', [5]],
    ['a tag with company', '[[1,"submit","a","read",1,{"$date":1,"a":2}]]', [5]],
    ['bytes that are no base64', '[[1,"submit","a","read",1,[{"$bytes":"***"}]]]', [5, 0]],
    ['a bigint that is none', '[[1,"submit","a","read",1,{"$bigint":"1e9"}]]', [5]],
    ['a date beyond time', '[[1,"submit","a","read",1,{"$date":1e99}]]', [5]],
  ])('%s → that row only, with the path', (_, text, path) => {
    const [bad, good] = jsonCodec.decode(`${text.slice(0, -1)},[2,"cancel"]]`);
    expect(bad).toBeInstanceOf(UndecodableRow);
    expect((bad as UndecodableRow).path).toEqual(path);
    expect(good).toEqual([2, 'cancel']);
  });

  test('nesting without end → refused, not a stack overflow', () => {
    const depth = 200_000;
    const [row] = jsonCodec.decode(`[[1,"submit","a","read",1,${'['.repeat(depth)}${']'.repeat(depth)}]]`);
    expect(row).toBeInstanceOf(UndecodableRow);
  });

  test.each(['', '{', '{}', '1', 'null'])('frame %j → PROTOCOL', (frame) => {
    expect(() => jsonCodec.decode(frame)).toThrow(expect.objectContaining({ code: 'PROTOCOL' }) as Error);
  });

  test('bytes instead of text → PROTOCOL', () => {
    expect(() => jsonCodec.decode(new Uint8Array([91, 93]))).toThrow(
      expect.objectContaining({ code: 'PROTOCOL' }) as Error,
    );
  });

  test('any text → rows or PROTOCOL, nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          jsonCodec.decode(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'PROTOCOL' });
        }
      }),
    );
  });
});

describe('frames', () => {
  const row = (text: string) => jsonCodec.encodeRow([1, 'submit', 'a', 'read', 1, text]);

  test('rows beyond the size limit → several frames, none above it, all rows in order', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1 }), (texts) => {
        const rows = texts.map(row);
        const frames = packFrames(jsonCodec, rows, 400);
        for (const frame of frames) expect(Buffer.byteLength(frame as string)).toBeLessThanOrEqual(400);
        expect(frames.flatMap((frame) => jsonCodec.decode(frame)).map((decoded) => (decoded as unknown[])[5])).toEqual(
          texts,
        );
      }),
    );
  });

  test('byteLength → that of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(jsonCodec.byteLength(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  test('row that fits exactly → fits; one byte more → does not', () => {
    const encoded = row('x'.repeat(100));
    const needed = packFrames(jsonCodec, [encoded], Infinity)[0] as string;
    const overhead = 9;
    expect(needed.length).toBeLessThanOrEqual(jsonCodec.byteLength(encoded) + overhead);
    expect(fitsFrame(jsonCodec, encoded, jsonCodec.byteLength(encoded) + overhead)).toBe(true);
    expect(fitsFrame(jsonCodec, encoded, jsonCodec.byteLength(encoded) + overhead - 1)).toBe(false);
  });

  test('many small rows → at most 256 a frame', () => {
    const frames = packFrames(
      jsonCodec,
      Array.from({ length: 600 }, () => row('')),
      Infinity,
    );
    expect(frames.map((frame) => jsonCodec.decode(frame).length)).toEqual([256, 256, 88]);
  });
});
