/** The wire format of the messages of etcd, beside bytes that others have written. */
import { expect, test } from 'vitest';
import { MessageFormat } from '../../../../../src/server/node/etcd/protobuf.ts';

const item = new MessageFormat({ key: [1, 'bytes'], revision: [3, 'integer'] });
const message = new MessageFormat({
  count: [3, 'integer'],
  isLast: [4, 'flag'],
  name: [5, 'text'],
  item: [10, item],
  items: [20, [item]],
});
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('encode: only what is set, numbers in seven bits at a time, the lowest first', () => {
  expect(hex(message.encode({}))).toBe('');
  expect(hex(message.encode({ count: 0 }))).toBe('1800');
  // As in the documentation of the format.
  expect(hex(message.encode({ count: 150 }))).toBe('189601');
  expect(hex(message.encode({ name: 'testing' }))).toBe('2a0774657374696e67');
  expect(hex(message.encode({ isLast: true, item: { revision: 150 } }))).toBe('20015203189601');
  expect(hex(message.encode({ items: [{}, { revision: 1 }] }))).toBe('a20100a201021801');
});

test('decode: what was encoded comes back, also the largest numbers', () => {
  const value = {
    count: Number.MAX_SAFE_INTEGER,
    isLast: true,
    name: 'é',
    item: { key: Buffer.from([0, 255]), revision: 0 },
    items: [{ key: Buffer.alloc(300, 1), revision: 1 }],
  };
  expect(message.decode(message.encode(value))).toEqual(value);
});

test('decode: what was not sent → 0, empty, and no message', () => {
  expect(message.decode(Buffer.alloc(0))).toEqual({
    count: 0,
    isLast: false,
    name: '',
    item: undefined,
    items: [],
  });
});

test('decode: fields that are not known → skipped, of every wire type', () => {
  const unknown = Buffer.from(
    '309601 390102030405060708 3a0145 3d01020304'.replaceAll(' ', ''),
    'hex',
  );
  const bytes = Buffer.concat([unknown, message.encode({ count: 7 })]);
  expect(message.decode(bytes).count).toBe(7);
});

test.each(['18', '2a0574', '5203189696', '33', 'a20105'])(
  'decode: %s, which is cut off or no message → an error',
  (text) => {
    expect(() => message.decode(Buffer.from(text, 'hex'))).toThrow(/cut off|wire type/);
  },
);
