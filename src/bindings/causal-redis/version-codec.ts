/** Versions, chains and own entries as bytes, as the scripts keep them. */
import type { OwnEntry } from '../../causal/partition-calls.ts';
import type { Vector } from '../../causal/stamps.ts';
import { isGap, type ChainLink, type VersionChain } from '../../causal/version-chain.ts';
import type { Version } from '../../causal/version.ts';

const DOUBLE_BYTES = 8;
const LENGTH_BYTES = 4;
const SITE_AT = 12;
const KIND_AT = 13;
const EXPIRES_AT = 14;
const DEPENDENCIES_AT = 22;
const ENTRY_HEAD_BYTES = 13;
const TOMBSTONE = 1;

/**
 * The size of the prefix of a field. It shows whether the field has a chain or the id of a write.
 */
const FIELD_PREFIX_BYTES = 2;

export function toChainField(key: string): string {
  return `v:${key}`;
}

export function toIdField(id: string): string {
  return `i:${id}`;
}

/** Returns the key of a chain, or the id of a write. */
export function fromField(field: Buffer): string {
  return field.toString('utf8', FIELD_PREFIX_BYTES);
}

export function encodeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * DOUBLE_BYTES);
  writeNumbers(bytes, 0, numbers);
  return bytes;
}

export function decodeNumbers(
  bytes: Buffer,
  at: number = 0,
  count: number = (bytes.length - at) / DOUBLE_BYTES,
): readonly number[] {
  return Array.from({ length: count }, (_, place) => bytes.readDoubleBE(at + place * DOUBLE_BYTES));
}

function writeNumbers(bytes: Buffer, at: number, numbers: readonly number[]): void {
  for (const [place, value] of numbers.entries())
    bytes.writeDoubleBE(value, at + place * DOUBLE_BYTES);
}

/** Returns the bytes of a value. A tombstone has none. */
export function toValueBytes(value: unknown): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError(`a value must be bytes, got ${typeof value}`);
}

function encodeVersion(version: Version): Buffer {
  const { stamp, site, kind, expiresAt, dependencies } = version;
  const value = toValueBytes(version.value);
  const valueAt = DEPENDENCIES_AT + dependencies.length * DOUBLE_BYTES;
  const bytes = Buffer.allocUnsafe(valueAt + value.length);
  bytes.writeUInt32BE(bytes.length - LENGTH_BYTES, 0);
  bytes.writeDoubleBE(stamp, LENGTH_BYTES);
  bytes.writeUInt8(site, SITE_AT);
  bytes.writeUInt8(kind === 'tombstone' ? TOMBSTONE : 0, KIND_AT);
  bytes.writeDoubleBE(expiresAt, EXPIRES_AT);
  writeNumbers(bytes, DEPENDENCIES_AT, dependencies);
  bytes.set(value, valueAt);
  return bytes;
}

/** Reads the version that begins at `at` with its length. */
export function decodeVersion(bytes: Buffer, siteCount: number, at: number = 0): Version {
  const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
  const isTombstone = bytes.readUInt8(at + KIND_AT) === TOMBSTONE;
  const valueAt = at + DEPENDENCIES_AT + siteCount * DOUBLE_BYTES;
  return {
    stamp: bytes.readDoubleBE(at + LENGTH_BYTES),
    site: bytes.readUInt8(at + SITE_AT),
    kind: isTombstone ? 'tombstone' : 'value',
    expiresAt: bytes.readDoubleBE(at + EXPIRES_AT),
    dependencies: decodeNumbers(bytes, at + DEPENDENCIES_AT, siteCount),
    value: isTombstone ? undefined : bytes.subarray(valueAt, end),
  };
}

function encodeGap(passableUpTo: Vector | undefined): Buffer {
  const vector = encodeNumbers(passableUpTo ?? []);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(vector.length, 0);
  return Buffer.concat([length, vector]);
}

export function encodeChain(chain: VersionChain): Buffer {
  return Buffer.concat(
    chain.map((link) => (isGap(link) ? encodeGap(link.passableUpTo) : encodeVersion(link))),
  );
}

export function decodeChain(bytes: Buffer, siteCount: number): VersionChain {
  const links: ChainLink[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    links.push(
      length > siteCount * DOUBLE_BYTES
        ? decodeVersion(bytes, siteCount, at)
        : { passableUpTo: decodeGap(bytes, at + LENGTH_BYTES, length) },
    );
    at += LENGTH_BYTES + length;
  }
  return links;
}

function decodeGap(bytes: Buffer, at: number, length: number): Vector | undefined {
  if (length === 0) return undefined;
  return decodeNumbers(bytes, at, length / DOUBLE_BYTES);
}

export function encodeEntry({ stamp, id, write }: OwnEntry): Buffer {
  const head = Buffer.allocUnsafe(ENTRY_HEAD_BYTES);
  head.writeDoubleBE(stamp, 0);
  head.writeUInt8(write === undefined ? 0 : 1, 8);
  if (write === undefined) {
    head.writeUInt32BE(0, 9);
    return head;
  }
  const names = [toIdField(id), toChainField(write.key)].map((name) => Buffer.from(name));
  for (const [place, name] of names.entries()) head.writeUInt16BE(name.length, 9 + 2 * place);
  return Buffer.concat([head, ...names, encodeVersion(write.version)]);
}

export function decodeEntry(bytes: Buffer, siteCount: number): OwnEntry {
  const stamp = bytes.readDoubleBE(0);
  if (bytes.readUInt8(8) === 0) return { stamp, id: '', write: undefined };
  const keyAt = ENTRY_HEAD_BYTES + bytes.readUInt16BE(9);
  const versionAt = keyAt + bytes.readUInt16BE(11);
  return {
    stamp,
    id: fromField(bytes.subarray(ENTRY_HEAD_BYTES, keyAt)),
    write: {
      key: fromField(bytes.subarray(keyAt, versionAt)),
      version: decodeVersion(bytes, siteCount, versionAt),
    },
  };
}
