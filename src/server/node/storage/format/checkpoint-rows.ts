/**
 * Reads a checkpoint file frame by frame, so that neither the file nor the rows have to fit into
 * memory. First the commits are found, without decoding rows. Then the rows of the last commit are
 * read.
 */
import { crc32 } from 'node:zlib';
import type { CheckpointCommit, CheckpointRow } from './checkpoint-file.ts';
import { describeFormat, FORMAT_VERSION } from './file-names.ts';
import { decodeFrame, findFrames, getFrameLength, HEADER_BYTES, toBuffer } from './frames.ts';
import { decodeValue } from './value-text.ts';

/** The bytes of a file. */
export interface ByteSource {
  /** Returns up to `length` bytes from `position` on, fewer at the end. */
  read(position: number, length: number): Uint8Array;
}

/** What a checkpoint file has, without the rows. */
export interface CheckpointSummary {
  readonly commits: number;
  /** Of the last commit; `undefined` without one. */
  readonly last: Omit<CheckpointCommit, 'sum'> | undefined;
  /** The frames up to the last commit, and their bytes. */
  readonly frameCount: number;
  readonly bytes: number;
  /** Why a part is unreadable that was on the disk once. */
  readonly damage: string | undefined;
}

interface Frame {
  readonly payload: Buffer;
  /** The position behind it. */
  readonly end: number;
}

/** Bytes that are read at once. Garbage may look like a frame of any length. */
const READ_BYTES = 2 ** 22;
/** Rows have no such text but within values. */
const COMMIT = Buffer.from('"smallParts":');
/** A checksum takes about so much less time than decoding. */
const BYTES_PER_CHARACTER = 32;

/**
 * Finds the commits of a file. Yields about how many characters of work each step was.
 *
 * @param file the number of the file
 */
export function* summarizeCheckpoint(
  source: ByteSource,
  file: number,
): Generator<number, CheckpointSummary, void> {
  let summary: CheckpointSummary = {
    commits: 0,
    last: undefined,
    frameCount: 0,
    bytes: 0,
    damage: undefined,
  };
  let [sum, index, position] = [0, 0, 0];
  for (const { payload, end } of readFrames(source, file)) {
    const isHeader = index === 0;
    if (isHeader || payload.includes(COMMIT)) {
      const frame = decodeValue(payload.toString()) as Partial<CheckpointCommit> & {
        readonly format?: number;
      };
      if (isHeader && frame.format !== FORMAT_VERSION)
        return { ...summary, damage: `it ${describeFormat(Number(frame.format))}` };
      if ('smallParts' in frame) {
        const { smallParts, contained, retainedFrom, sum: expected } = frame as CheckpointCommit;
        const commits = summary.commits + 1;
        if (expected !== sum)
          return { ...summary, damage: `its commit ${commits} is not of what stands before it` };
        const last = { smallParts, contained, retainedFrom };
        summary = { ...summary, commits, last, frameCount: index + 1, bytes: end };
      }
    }
    sum = crc32(payload, sum);
    index += 1;
    position = end;
    yield payload.length / BYTES_PER_CHARACTER;
  }
  // Frames are written one after the other. So a later frame proves that those before it were
  // whole.
  const isDamaged = hasFrame(readBytes(source, position, Infinity), { file, index });
  return isDamaged ? { ...summary, damage: `it is damaged at byte ${position}` } : summary;
}

function hasFrame(bytes: Buffer, from: { readonly file: number; readonly index: number }): boolean {
  return findFrames(bytes, { ...from, position: 0 }).next().done !== true;
}

/**
 * The rows of the last commit of a file. A file may have several rows of one name: of several
 * commits, and those that changed while a commit was written. The last one counts.
 */
export class CheckpointRows implements Iterable<readonly [string, string, unknown]> {
  readonly #source: ByteSource;
  readonly #file: number;
  readonly #summary: CheckpointSummary;
  /** The number of the last row of each name. `undefined`: no two rows have the same name. */
  #last: Map<string, Map<string, number>> | undefined;
  #position = 0;

  constructor(source: ByteSource, file: number, summary: CheckpointSummary) {
    this.#source = source;
    this.#file = file;
    this.#summary = summary;
  }

  /** How many bytes were read since the last beginning. */
  get position(): number {
    return this.#position;
  }

  /**
   * Finds the last row of each name, unless all names are different. All names are in memory from
   * then on: about 100 bytes a row. Yields about how many characters of work each step was.
   */
  *findLast(): Generator<number, void, void> {
    const last = new Map<string, Map<string, number>>();
    let number = 0;
    for (const rows of this.#readFrames()) {
      for (const [section, name] of rows) {
        const names = last.get(section) ?? new Map<string, number>();
        last.set(section, names);
        names.set(name, number);
        number += 1;
        yield name.length;
      }
    }
    this.#last = last;
  }

  *[Symbol.iterator](): Generator<readonly [string, string, unknown], void, void> {
    let number = -1;
    for (const rows of this.#readFrames()) {
      for (const [section, name, ...value] of rows) {
        number += 1;
        const last = this.#last?.get(section)?.get(name) ?? number;
        if (last === number && value.length > 0) yield [section, name, value[0]];
      }
    }
  }

  *#readFrames(): Generator<readonly CheckpointRow[], void, void> {
    const { frameCount } = this.#summary;
    let count = 0;
    if (frameCount === 0) return;
    for (const { payload, end } of readFrames(this.#source, this.#file)) {
      const frame = decodeValue(payload.toString()) as { readonly rows?: CheckpointRow[] };
      count += 1;
      this.#position = end;
      if (frame.rows !== undefined) yield frame.rows;
      if (count === frameCount) return;
    }
    throw new Error(`a checkpoint has changed while it was read: frame ${count} is damaged`);
  }
}

/** Yields the frames from the beginning up to the first that is not whole. */
export function* readFrames(source: ByteSource, file: number): Generator<Frame, void, void> {
  let buffer = Buffer.alloc(0);
  let position = 0;
  /** Makes sure that the buffer has so many bytes, unless the file ends before. */
  const fill = (length: number): boolean => {
    if (buffer.length < length) {
      const from = position + buffer.length;
      const more = readBytes(source, from, Math.max(length - buffer.length, READ_BYTES));
      buffer = Buffer.concat([buffer, more]);
    }
    return buffer.length >= length;
  };
  for (let index = 0; fill(HEADER_BYTES) && fill(getFrameLength(buffer)); index += 1) {
    const length = getFrameLength(buffer);
    const payload = decodeFrame(buffer.subarray(0, length), { file, index });
    if (payload === undefined) return;
    buffer = buffer.subarray(length);
    position += length;
    yield { payload, end: position };
  }
}

/** Reads bytes in pieces, and no further than the file goes. */
function readBytes(source: ByteSource, position: number, length: number): Buffer {
  const pieces: Buffer[] = [];
  let count = 0;
  while (count < length) {
    const wanted = Math.min(READ_BYTES, length - count);
    const piece = toBuffer(source.read(position + count, wanted));
    pieces.push(piece);
    count += piece.length;
    if (piece.length < wanted) break;
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}
