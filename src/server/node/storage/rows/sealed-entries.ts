/** Entries of a store of rows: their keys, and values with a checksum over key and value. */
import { crc32 } from 'node:zlib';
import { toBuffer } from '../format/frames.ts';
import type { EntryKey, RowReader } from './row-store.ts';

/**
 * A `row` of a section by its name, a chunk of an `order` by its number, and the `directory` of an
 * order by its name.
 */
export type EntryKind = 'cut' | 'row';

const KIND_CODES: Readonly<Record<EntryKind, number>> = { cut: 0, row: 1 };
const UTF_8 = 0;
const UTF_16 = 1;

/**
 * Returns the key of an entry. Different names have different keys, whatever is in them: UTF-8 has
 * no halves of pairs, so a name with one is written as its code units.
 */
export function encodeKey(kind: EntryKind, name: string): EntryKey {
  const isWellFormed = !LONE_SURROGATE.test(name);
  const head = String.fromCharCode(KIND_CODES[kind], isWellFormed ? UTF_8 : UTF_16);
  // One buffer for all of it: this runs for each row of a commit, and of a start.
  if (isWellFormed) return Buffer.from(head + name);
  return Buffer.concat([Buffer.from(head), Buffer.from(name, 'utf16le')]);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

const CRC_BYTES = 4;

/** Adds the checksum. It covers the key, so that an entry at the place of another one is found. */
export function seal(key: EntryKey, value: Uint8Array): Uint8Array {
  const sealed = Buffer.allocUnsafe(CRC_BYTES + value.length);
  sealed.writeUInt32LE(crc32(value, crc32(key)));
  sealed.set(value, CRC_BYTES);
  return sealed;
}

/** Reads an entry that must exist. Throws if it is missing or damaged. */
export function readSealed(reader: RowReader, key: EntryKey): Uint8Array {
  const value = readSealedIfAny(reader, key);
  if (value === undefined) throw new Error(`the entry ${describe(key)} is missing`);
  return value;
}

/** Reads an entry; `undefined` if there is none. Throws if it is damaged. */
export function readSealedIfAny(reader: RowReader, key: EntryKey): Uint8Array | undefined {
  const bytes = reader.get(key);
  if (bytes === undefined) return undefined;
  const sealed = toBuffer(bytes);
  const value = sealed.subarray(CRC_BYTES);
  if (sealed.length < CRC_BYTES || sealed.readUInt32LE() !== crc32(value, crc32(key)))
    throw new Error(`the entry ${describe(key)} is damaged`);
  return value;
}

function describe(key: EntryKey): string {
  return Buffer.from(key).toString('hex');
}
