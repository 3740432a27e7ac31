/** What is the JSON codec's own: what it refuses to read, and the size of its text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UndecodableMessage } from '../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';

describe('JSON codec: reads what is hostile', () => {
  test.each([
    [
      'the key __proto__',
      '[[1,"submit","a","read",1,{"x":{"__proto__":{"admin":true}}}]]',
      [5, 'x'],
    ],
    ['an unknown tag', '[[1,"submit","a","read",1,{"$evil":1}]]', [5]],
    ['a tag with company', '[[1,"submit","a","read",1,{"$date":1,"a":2}]]', [5]],
    ['bytes that are no base64', '[[1,"submit","a","read",1,[{"$bytes":"***"}]]]', [5, 0]],
    ['a bigint that is none', '[[1,"submit","a","read",1,{"$bigint":"1e9"}]]', [5]],
    ['a date beyond time', '[[1,"submit","a","read",1,{"$date":1e99}]]', [5]],
    ['a number beyond all', '[[1,"submit","a","read",1,{"x":[1e999]}]]', [5, 'x', 0]],
    ['one below all', '[[1,"submit","a","read",1,-1e999]]', [5]],
    [
      'half of a surrogate pair',
      String.raw`[[1,"submit","a","read",1,["\uD83D\uDE00","\ud83d"]]]`,
      [5, 1],
    ],
    [
      'half of a pair in a key',
      String.raw`[[1,"submit","a","read",1,{"x":{"\udE00":1}}]]`,
      [5, 'x'],
    ],
  ])('%s → that row only, with the path', (_, text, path) => {
    const [bad, good] = jsonCodec.decode(`${text.slice(0, -1)},[2,"cancel"]]`);
    expect(bad).toBeInstanceOf(UndecodableMessage);
    expect((bad as UndecodableMessage).path).toEqual(path);
    expect(good).toEqual([2, 'cancel']);
  });

  test('numbers → as they are, -0 as 0', () => {
    const [row] = jsonCodec.decode('[[1,"view",0,0,[-0,{"x":-0.0},1e308,5e-324,-1]]]') as [
      unknown[],
    ];
    // `toStrictEqual` distinguishes -0 from 0.
    expect(row[4]).toStrictEqual([0, { x: 0 }, 1e308, 5e-324, -1]);
  });

  test('surrogate pairs as escapes → the characters', () => {
    expect(jsonCodec.decode(String.raw`[[1,"\uD83D\uDE00"],[2,{"$date":7}]]`)).toEqual([
      [1, '😀'],
      [2, new Date(7)],
    ]);
  });

  test('nesting without end → refused, not a stack overflow', () => {
    const depth = 200_000;
    const [row] = jsonCodec.decode(
      `[[1,"submit","a","read",1,${'['.repeat(depth)}${']'.repeat(depth)}]]`,
    );
    expect(row).toBeInstanceOf(UndecodableMessage);
  });

  test.each(['', '{', '{}', '1', 'null'])('frame %j → PROTOCOL', (frame) => {
    expect(() => jsonCodec.decode(frame)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL' }) as Error,
    );
  });

  test('bytes instead of text → PROTOCOL', () => {
    expect(() => jsonCodec.decode(new Uint8Array([91, 93]))).toThrow(
      expect.objectContaining({ code: 'PROTOCOL' }) as Error,
    );
  });

  test('any row that is read → can be sent on', () => {
    const { text } = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          '1e999',
          '-1e999',
          '-0',
          '7',
          'null',
          '"a"',
          '"\\ud800"',
          '{"$date":1e999}',
          '{"$bigint":"1e9"}',
        ),
        fc.array(tie('text')).map((items) => `[${items.join(',')}]`),
        fc
          .array(tie('text'))
          .map((items) => `{${items.map((item, n) => `"${n}":${item}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(text, (value) => {
        const [row] = jsonCodec.decode(`[[1,"view",0,0,${value}]]`);
        if (!(row instanceof UndecodableMessage)) jsonCodec.encodeMessage(row as unknown[]);
      }),
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

test.each(['', 'abc', 'Zoë', '€ \u07ff\u0800\uffff', '💩'])(
  'byteLength of %j → that of UTF-8',
  (text) => {
    expect(jsonCodec.byteLength(text)).toBe(Buffer.byteLength(text));
  },
);
