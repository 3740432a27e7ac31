/**
 * What lies on disks stays as it was written, whatever becomes of the wire: these bytes are those
 * of format 1. Where this fails after a change of the wire's codec, storage needs a copy of the
 * codec as it was (`storage/format/values.ts`).
 */
// @rule STO-29
import { expect, test } from 'vitest';
import { formatOperationId } from '../../../../../../src/server/site/core/operation-id.ts';
import {
  packEntries,
  unpackEntries,
  type LoggedEntry,
} from '../../../../../../src/server/node/storage/format/packed-entries.ts';
import {
  formatCommit,
  formatRow,
} from '../../../../../../src/server/node/storage/format/checkpoint-file.ts';
import {
  decodeValue,
  FRAME_DEPTH,
  reader,
  encodeValue,
  writer,
} from '../../../../../../src/server/node/storage/format/value-text.ts';

const LONG = 'x'.repeat(300);
const DIGITS = `-${'9'.repeat(1024)}`;

/** Values, their bytes in logs, and their text in checkpoints. */
const VALUES: readonly (readonly [value: unknown, hex: string, text: string])[] = [
  [null, 'c0', 'null'],
  [true, 'c3', 'true'],
  [false, 'c2', 'false'],
  [0, '00', '0'],
  [127, '7f', '127'],
  [128, 'cc80', '128'],
  [256, 'cd0100', '256'],
  [65_536, 'ce00010000', '65536'],
  [2 ** 40, 'cb4270000000000000', '1099511627776'],
  [-1, 'ff', '-1'],
  [-33, 'd2ffffffdf', '-33'],
  [0.5, 'cb3fe0000000000000', '0.5'],
  ['', 'a0', '""'],
  ['abc', 'a3616263', '"abc"'],
  ['é', 'd902c3a9', '"é"'],
  [LONG, `da012c${'78'.repeat(300)}`, `"${LONG}"`],
  [new Uint8Array([1, 2]), 'c4020102', '{"$bytes":"AQI="}'],
  [new Date(5), '81a5246461746505', '{"$date":5}'],
  [7n, '81a724626967696e74a137', '{"$bigint":"7"}'],
  [undefined, '81aa24756e646566696e6564c3', '{"$undefined":true}'],
  [[1, [2]], '92019102', '[1,[2]]'],
  [{ a: 1, $b: undefined }, '81a16101', '{"a":1}'],
  [{ $b: 1 }, '81a324246201', '{"$$b":1}'],
];

test.each(VALUES.map((item, index) => [index, ...item] as const))(
  'value %i → these bytes',
  (_, value, hex, text) => {
    writer.beginWriting();
    writer.writeValue(value, FRAME_DEPTH);
    expect(Buffer.from(writer.takeWritten()).toString('hex')).toBe(hex);
    expect(encodeValue(value)).toBe(text);
  },
);

test.each(VALUES.map((item, index) => [index, ...item] as const))(
  'value %i ← these bytes',
  (_, value, hex, text) => {
    reader.openFrame(Uint8Array.from(Buffer.from(hex, 'hex')));
    const back = reader.readValue(FRAME_DEPTH);
    reader.closeFrame();
    const expected =
      typeof value === 'object' && value !== null && '$b' in value && value.$b === undefined
        ? { a: 1 }
        : value;
    expect(back).toStrictEqual(expected);
    expect(decodeValue(text)).toStrictEqual(expected);
  },
);

test('the extremes that could be written → are read', () => {
  let deep: unknown = BigInt(DIGITS);
  for (let depth = 0; depth < 64; depth += 1) deep = [deep];
  writer.beginWriting();
  writer.writeValue(deep, FRAME_DEPTH);
  reader.openFrame(writer.takeWritten());
  expect(reader.readValue(FRAME_DEPTH)).toStrictEqual(deep);
  reader.closeFrame();
  expect(decodeValue(encodeValue(deep))).toStrictEqual(deep);
});

const vector = [3, 1, 2];
const effect = { table: 't', key: 'k', field: 'f', action: 'add', value: 1 };
const operation = {
  id: formatOperationId('c', 5),
  site: 1,
  shadow: 's',
  effects: [effect],
  reply: { value: null },
};
const blue = {
  ...operation,
  effects: [effect, { ...effect, key: 'l' }],
  sequence: 4,
  vector,
  hop: 0,
};
const red = {
  ...operation,
  kind: 'operation',
  attempt: 1,
  snapshot: vector,
  operation: 'o',
  reads: ['t'],
  clock: 9,
};

/** One of each kind, in one group. */
const ENTRIES: readonly LoggedEntry[] = [
  { log: 'local', entry: { kind: 'blue', operation: blue, redDelivered: 2 } },
  {
    log: 'local',
    entry: { kind: 'slot', id: 'c/6', hop: 1, decision: { kind: 'claim', site: 2, hop: 2 } },
  },
  { log: 'local', entry: { kind: 'expire', client: 'c', upTo: 3 } },
  { log: 'red', entry: { origin: 1, epoch: 7, sequence: 1, record: red } },
];

/** The version, then what each entry is. */
const PACKED =
  '02' +
  '93' +
  '00' +
  '98' +
  'a3632f35' +
  '01' +
  '04' +
  '93030102' +
  'a173' +
  '92' +
  '95a174a16ba166a3616464' +
  '01' +
  '92a16c01' +
  'c0' +
  '00' +
  '02' +
  '92' +
  '01' +
  '84a46b696e64a4736c6f74a26964a3632f36a3686f7001a86465636973696f6e83a46b696e64a5636c61696da47369746502a3686f7002' +
  '92' +
  '01' +
  '83a46b696e64a6657870697265a6636c69656e74a163a47570546f03';

test('a group of entries → these bytes, and back', () => {
  const { bytes } = packEntries(ENTRIES, 0, Infinity);
  const hex = Buffer.from(bytes).toString('hex');
  expect(hex.slice(0, PACKED.length)).toBe(PACKED);
  expect(unpackEntries(bytes)).toStrictEqual(ENTRIES);
});

test('a row and a commit of a checkpoint → this text', () => {
  expect(formatRow(['rows', 't\u0000k', [{ f: 1n }]])).toBe(
    '["rows","t\\u0000k",[{"f":{"$bigint":"1"}}]]',
  );
  const places = { local: 1, red: 2 };
  const text = formatCommit(['["rows","gone"]'], {
    smallParts: '{"own":[]}',
    contained: places,
    retainedFrom: places,
    sum: 5,
  });
  const reported = '"contained":{"local":1,"red":2},"retainedFrom":{"local":1,"red":2},"sum":5';
  expect(text).toBe(`{"rows":[["rows","gone"]],${reported},"smallParts":{"own":[]}}`);
});
