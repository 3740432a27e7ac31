import { expect, test } from 'vitest';
import type { OwnEntry } from '../../../../src/causal/partition-calls.ts';
import type { Version } from '../../../../src/causal/version.ts';
import type { VersionChain } from '../../../../src/causal/version-chain.ts';
import {
  decodeChain,
  decodeEntry,
  decodeNumbers,
  decodeVersion,
  encodeChain,
  encodeEntry,
  encodeNumbers,
} from '../../../../src/bindings/causal-redis/version-codec.ts';

/** A stamp whose last digits a text with 14 digits loses. */
const STAMP = 1_795_854_091_540_607;

const version = (fields: Partial<Version> = {}): Version => ({
  stamp: STAMP,
  site: 1,
  kind: 'value',
  expiresAt: 0,
  dependencies: [STAMP - 5, STAMP],
  value: Buffer.from([0, 255, 10]),
  ...fields,
});
const tombstone = version({ kind: 'tombstone', value: undefined });

test('numbers keep all their digits, and infinity', () => {
  const numbers = [0, STAMP, 0.5, Infinity];
  expect(decodeNumbers(encodeNumbers(numbers))).toEqual(numbers);
});

test.each<[string, VersionChain]>([
  ['an empty chain', []],
  ['versions', [version(), version({ expiresAt: STAMP + 9, value: Buffer.alloc(0) })]],
  ['a tombstone', [tombstone]],
  ['a closed gap', [version(), { passableUpTo: undefined }]],
  ['a passable gap', [version(), { passableUpTo: [Infinity, STAMP] }, version({ stamp: 7 })]],
])('a chain is the same after encoding and decoding: %s', (_, chain) => {
  expect(decodeChain(encodeChain(chain), 2)).toEqual(chain);
});

test.each<[string, OwnEntry]>([
  ['a write', { stamp: STAMP, id: 'gateway 1', write: { key: 'ключ', version: version() } }],
  ['an empty key', { stamp: STAMP, id: '', write: { key: '', version: tombstone } }],
  ['the mark of a heal', { stamp: STAMP, id: '', write: undefined }],
])('an entry is the same after encoding and decoding: %s', (_, entry) => {
  expect(decodeEntry(encodeEntry(entry), 2)).toEqual(entry);
});

test('a version has the layout that the scripts read', () => {
  const bytes = encodeChain([version({ expiresAt: 3 })]);
  expect(bytes.readUInt32BE(0)).toBe(bytes.length - 4);
  expect(bytes.readDoubleBE(4)).toBe(STAMP);
  expect([bytes[12], bytes[13]]).toEqual([1, 0]);
  expect(bytes.readDoubleBE(14)).toBe(3);
  expect(bytes.readDoubleBE(30)).toBe(STAMP);
  expect(bytes.subarray(38)).toEqual(Buffer.from([0, 255, 10]));
  expect(decodeVersion(bytes, 2)).toEqual(version({ expiresAt: 3 }));
});
