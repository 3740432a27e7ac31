/**
 * Groups of records as etcd stores them: a byte with the version of the format, then MessagePack.
 */
import { estimateEncodedBytes } from '../../../values/estimate-bytes.ts';
import * as reader from '../../../protocol/codec/msgpack-reader.ts';
import * as writer from '../../../protocol/codec/msgpack-writer.ts';

/** The records that a proposer writes at once. */
export interface EtcdGroup<R> {
  /** The number of the first record in its start, from 1 on. */
  readonly first: number;
  /** How many entries of the log its proposer had taken, and their digest if it was known. */
  readonly position: number;
  readonly digest: number | null;
  readonly records: readonly R[];
}

/**
 * The most bytes of a record, and of a group of several records. Etcd accepts one and a half times
 * as much.
 */
export const MAX_RECORD_BYTES = 1 << 20;
export const MAX_GROUP_RECORDS = 256;

const GROUP_VERSION = 1;
/** Values of the application may be as deep as on the wire, and stand inside records here. */
const GROUP_DEPTH = -16;

/** A group or a record that a newer version may have written. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError';
}

/** A group as bytes, with as many of the records as there is room for. */
export interface EncodedGroup {
  readonly value: Uint8Array;
  readonly count: number;
}

export function encodeGroup<R>(
  { first, position, digest }: Omit<EtcdGroup<R>, 'records'>,
  records: Iterable<R>,
  maxRecords = MAX_GROUP_RECORDS,
): EncodedGroup {
  let count = 0;
  writer.beginWriting();
  try {
    writer.reserveHead(1);
    writer.writeValue([first, position, digest], GROUP_DEPTH);
    for (const record of records) {
      if (count === maxRecords) break;
      if (count > 0 && writer.getSize() + estimateEncodedBytes(record) > MAX_RECORD_BYTES) break;
      writer.writeValue(record, GROUP_DEPTH);
      count += 1;
    }
    const value = writer.takeWritten();
    value[0] = GROUP_VERSION;
    return { value, count };
  } catch (error) {
    writer.rewindWriter();
    throw error;
  }
}

/**
 * @param describeProblem returns what is wrong with a record
 * @throws UnknownFormatError if a newer version may be able to read it
 * @throws Error if no version can have written it
 */
export function decodeGroup<R>(
  value: Uint8Array,
  describeProblem: (record: unknown) => string | undefined,
): EtcdGroup<R> {
  const [version] = value;
  if (version !== GROUP_VERSION)
    throw new UnknownFormatError(`it is written in version ${version}`);
  const content = value.subarray(1);
  reader.openFrame(content);
  try {
    const head = reader.readValue(GROUP_DEPTH);
    if (!isHead(head)) throw new Error('it does not begin with its number, position and digest');
    const [first, position, digest] = head;
    const records: R[] = [];
    while (reader.getPosition() < content.length) {
      const record = reader.readValue(GROUP_DEPTH);
      const problem = describeProblem(record);
      if (problem !== undefined)
        throw new UnknownFormatError(`record ${records.length}: ${problem}`);
      records.push(record as R);
    }
    return { first, position, digest, records };
  } finally {
    reader.closeFrame();
  }
}

function isHead(value: unknown): value is readonly [number, number, number | null] {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [first, position, digest] = value as unknown[];
  return [first, position, digest ?? 0].every(Number.isSafeInteger);
}
