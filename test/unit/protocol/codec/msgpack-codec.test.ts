/**
 * What is the msgpack codec's own: that others read and write the same, and what it refuses to
 * read.
 */
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import type { EncodedMessage } from '../../../../src/protocol/codec/codec.ts';
import { UndecodableMessage } from '../../../../src/protocol/codec/codec.ts';
import { msgpackCodec } from '../../../../src/protocol/codec/msgpack-codec.ts';
import type { Note } from '../../../support/property-shares.ts';
import { sharesOf, testShares, unnoted } from '../../../support/property-shares.ts';
import { scaleRuns, slowCases } from '../../../support/lane.ts';

/** Another implementation of MessagePack, without its own extensions. */
const other = new Packr({
  useRecords: false,
  mapsAsObjects: true,
  encodeUndefinedAsNil: false,
  variableMapSize: true,
});

const plain = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => !/"(__proto__|\$)/.test(JSON.stringify(value)));

/** A frame of one submission whose arguments are these bytes, and of a row after it. */
function frameWith(args: readonly number[]): Uint8Array<ArrayBuffer> {
  const head = [0x92, 0x96, 1, ...text('submit'), ...text('a'), ...text('read'), 1];
  return Uint8Array.from([...head, ...args, 0x92, 2, ...text('cancel')]);
}

function text(ascii: string): number[] {
  return [0xa0 | ascii.length, ...Buffer.from(ascii)];
}

describe('msgpack codec: beside another implementation', () => {
  test('what it writes → the other reads', () => {
    fc.assert(
      fc.property(fc.array(plain), (rows) => {
        const frame = msgpackCodec.frame(
          rows.map((value) => msgpackCodec.encodeMessage([1, 'view', 0, 0, value])),
        );
        expect(other.unpack(frame as Uint8Array)).toEqual(
          rows.map((value) => [1, 'view', 0, 0, normal(value)]),
        );
      }),
    );
  });

  test('what the other writes → it reads', () => {
    fc.assert(
      fc.property(fc.array(plain), (rows) => {
        const frame = new Uint8Array(other.pack(rows.map((value) => [1, 'view', 0, 0, value])));
        expect(msgpackCodec.decode(frame)).toEqual(
          rows.map((value) => [1, 'view', 0, 0, normal(value)]),
        );
      }),
    );
  });

  test.each([15, 16, 31, 32, 255, 256, 257, ...slowCases(65_535, 65_536)])(
    '%i of anything → read and written alike',
    (count) => {
      const list = Array.from({ length: count }, (_, at) => at);
      const map = Object.fromEntries(list.map((at) => [`k${at}`, at]));
      for (const value of [
        list,
        map,
        'é'.repeat(count),
        'x'.repeat(count),
        new Uint8Array(count).fill(7),
      ]) {
        const row = [1, 'view', 0, 0, value] as const;
        const frame = msgpackCodec.frame([msgpackCodec.encodeMessage(row as never)]);
        expect(msgpackCodec.decode(frame)).toEqual([row]);
        expect(msgpackCodec.decode(new Uint8Array(other.pack([row])))).toEqual([row]);
      }
    },
  );

  test.each([
    ['int8', [0xd0, 0x80], -128],
    ['int16', [0xd1, 0x80, 0], -32_768],
    ['uint64', [0xcf, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Number.MAX_SAFE_INTEGER],
    ['int64', [0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe], -2],
    ['float32', [0xca, 0x3f, 0xc0, 0, 0], 1.5],
    ['str32', [0xdb, 0, 0, 0, 1, 97], 'a'],
    ['bin16', [0xc5, 0, 1, 7], new Uint8Array([7])],
    ['array32', [0xdd, 0, 0, 0, 1, 1], [1]],
    ['map32', [0xdf, 0, 0, 0, 1, 0xa1, 97, 1], { a: 1 }],
  ])('%s, which it does not write itself → read', (_, bytes, value) => {
    const [row] = msgpackCodec.decode(frameWith(bytes));
    expect((row as unknown[])[5]).toStrictEqual(value);
  });
});

/**
 * Frames of what is sent, whole or with some bytes changed, cut or put in; and bytes that never
 * were a frame.
 */
const damaged = fc
  .tuple(
    fc.array(fc.anything({ withBigInt: true, withDate: true, maxDepth: 2 }), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }),
    fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat() }),
  )
  .map(([values, changes, end]) => {
    const frame = msgpackCodec.frame(values.map(encoded)) as Uint8Array<ArrayBuffer>;
    const bytes = frame.slice();
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
    return {
      bytes: end === undefined ? bytes : bytes.slice(0, end % bytes.length),
      isDamaged: changes.length > 0,
    };
  });
const anyBytes = fc.oneof(
  { weight: 6, arbitrary: damaged },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ bytes, isDamaged: true })),
  },
);

/** What cannot be sent is left out. */
function encoded(value: unknown): EncodedMessage {
  try {
    return msgpackCodec.encodeMessage([1, 'view', 0, 0, value]);
  } catch {
    return msgpackCodec.encodeMessage([1, 'view', 0, 0, 'v']);
  }
}

const readsAny = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(anyBytes, ({ bytes, isDamaged }) => {
    try {
      const rows = msgpackCodec.decode(new Uint8Array(bytes));
      note('rows');
      if (isDamaged) note('rows of a frame that was damaged');
      if (rows.some((row) => row instanceof UndecodableMessage))
        note('a row that cannot be decoded');
    } catch (error) {
      expect(error).toMatchObject({ code: 'PROTOCOL' });
      note('PROTOCOL');
    }
  });

describe('msgpack codec: reads what is hostile', () => {
  test.each([
    ['the key __proto__', [0x81, ...text('x'), 0x81, ...text('__proto__'), 1], [5, 'x']],
    ['an unknown tag', [0x81, ...text('$evil'), 1], [5]],
    ['a tag with company', [0x82, ...text('$date'), 1, ...text('a'), 2], [5]],
    ['a bigint that is none', [0x81, ...text('$bigint'), ...text('1e9')], [5]],
    ['a key that is no string', [0x91, 0x81, 1, 1], [5, 0]],
    ['an extension', [0x91, 0xd4, 1, 0], [5, 0]],
    ['a long extension', [0xc7, 2, 1, 9, 9], [5]],
    ['a number that is not finite', [0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0], [5]],
    ['an integer beyond 2^53', [0xcf, 1, 0, 0, 0, 0, 0, 0, 0], [5]],
    ['a string that is no UTF-8', [0xa2, 0xc3, 0x28], [5]],
    ['nesting without end', [...Array.from({ length: 100_000 }, () => 0x91), 1], undefined],
  ])('%s → that row only, with the path', (_, bytes, path) => {
    const [bad, good] = msgpackCodec.decode(frameWith(bytes));
    expect(bad).toBeInstanceOf(UndecodableMessage);
    if (path !== undefined) expect((bad as UndecodableMessage).path).toEqual(path);
    expect((bad as UndecodableMessage).message).toEqual([1, 'submit', 'a', 'read', 1]);
    expect(good).toEqual([2, 'cancel']);
  });

  test('bytes in a frame of Node → bytes as everywhere else', () => {
    const [row] = msgpackCodec.decode(Buffer.from(frameWith([0x91, 0xc4, 1, 7]))) as unknown[][];
    expect(row?.[5]).toStrictEqual([new Uint8Array([7])]);
  });

  test.each([
    ['nothing', []],
    ['no array', [0x80]],
    ['a byte that begins nothing', [0x91, 0xc1]],
    ['fewer rows than announced', [0x92, 0x91, 1]],
    ['four thousand million rows', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['a string of 4 GB', [0x91, 0x91, 0xdb, 0xff, 0xff, 0xff, 0xff]],
    ['a map of 2^32 entries', [0x91, 0x91, 0xdf, 0xff, 0xff, 0xff, 0xff]],
    ['something after the rows', [0x90, 1]],
    ['a bad row that ends too early', [0x91, 0x92, 0xd4, 1]],
  ])('%s → PROTOCOL', (_, bytes) => {
    expect(() => msgpackCodec.decode(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'PROTOCOL' }) as Error,
    );
  });

  test('text instead of bytes → PROTOCOL', () => {
    expect(() => msgpackCodec.decode('[]')).toThrow(
      expect.objectContaining({ code: 'PROTOCOL' }) as Error,
    );
  });

  test('any bytes → rows or PROTOCOL, nothing else', async () => {
    await fc.assert(readsAny(unnoted), { numRuns: scaleRuns(2000) });
  });

  testShares(
    'the bytes for that → about as many are rows as not, most with something wrong in them',
    async () => {
      const shares = await sharesOf(readsAny);
      expect(shares['rows']).toBeGreaterThan(0.3);
      expect(shares['PROTOCOL']).toBeGreaterThan(0.3);
      expect(shares['rows of a frame that was damaged']).toBeGreaterThan(0.1);
      expect(shares['a row that cannot be decoded']).toBeGreaterThan(0.02);
    },
  );

  test('object so large that it does not fit the block, with gaps → every entry, in the right number', () => {
    for (const size of [15, 16, 300, 70_000]) {
      const value = Object.fromEntries(
        Array.from({ length: size }, (_, n) => [`key ${n}`, n % 3 === 0 ? undefined : n]),
      );
      const frame = msgpackCodec.frame([
        msgpackCodec.encodeMessage([1, 'view', 0, 0, value]),
      ]) as Uint8Array<ArrayBuffer>;
      const [row] = msgpackCodec.decode(frame);
      expect((row as unknown[])[4]).toEqual(JSON.parse(JSON.stringify(value)));
    }
  });

  test('getter that changes its mind, or uses the codec itself → its own row at worst, never the frame', () => {
    let reads = 0;
    const fickle = {
      get odd() {
        return reads++ === 0 ? 1 : undefined;
      },
    };
    const nested = {
      get nested() {
        return msgpackCodec.encodeMessage([1, 'ping']).length;
      },
    };
    const good = msgpackCodec.encodeMessage([1, 'view', 0, 0, fickle]);
    expect(() => msgpackCodec.encodeMessage([2, 'view', 0, 0, nested])).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE' }) as Error,
    );
    const frame = msgpackCodec.frame([
      good,
      msgpackCodec.encodeMessage([3, 'pong']),
    ]) as Uint8Array<ArrayBuffer>;
    expect(msgpackCodec.decode(frame)).toEqual([
      [1, 'view', 0, 0, { odd: 1 }],
      [3, 'pong'],
    ]);
  });

  test('bytes of the frame are used again → what was read stays as it was', () => {
    const frame = msgpackCodec.frame([
      msgpackCodec.encodeMessage([1, 'view', 0, 0, new Uint8Array([1, 2, 3])]),
    ]);
    const [row] = msgpackCodec.decode(frame as Uint8Array<ArrayBuffer>);
    (frame as Uint8Array).fill(0);
    expect((row as unknown[])[4]).toEqual(new Uint8Array([1, 2, 3]));
  });
});

/** JSON has no -0 and leaves nothing out. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
