/**
 * The shared part of a checkpoint file, without the donor's own rows. Its frames are created as
 * they are read.
 */
import { crc32 } from 'node:zlib';
import { getPart } from '../../service/records/checkpoint.ts';
import { getRedPositions, type SavedSiteState } from '../../log/recovered-state.ts';
import type { HeldCheckpoint } from '../storage/checkpointer.ts';
import type { Files } from '../storage/disk/files.ts';
import { formatCommit, formatRows } from '../storage/format/checkpoint-file.ts';
import { FORMAT_VERSION } from '../storage/format/file-names.ts';
import {
  HEADER_BYTES,
  decodeFrame,
  encodeFrame,
  getFrameLength,
  sealFrame,
  toBuffer,
} from '../storage/format/frames.ts';
import { decodeValue, encodeValue } from '../storage/format/value-text.ts';
import { getFileNumber } from './transfer-messages.ts';

/** The content of the first frame of a transfer. */
export interface TransferHeader {
  readonly format: number;
  readonly transfer: string;
  /** The name of the site whose checkpoint it is. */
  readonly donor: string;
}

/** How far the creation of frames has come. */
interface Cursor {
  /**
   * The next frame to create: its offset in the transfer, its index, and the checksum of the
   * payloads before it.
   */
  readonly offset: number;
  readonly index: number;
  readonly sum: number;
  /** The next frame to read: its position in the file, and its index. */
  readonly position: number;
  readonly readIndex: number;
}

/** How many created bytes are kept for repeated requests. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const START: Cursor = {
  offset: 0,
  index: 0,
  sum: 0,
  position: 0,
  readIndex: 0,
};
/** The beginning of the donor's own rows, and of commits. */
const OWN_ROW = Buffer.from('["own.');
const COMMIT = Buffer.from('"smallParts":');

export class SharedFrames {
  readonly #files: Files;
  readonly #source: HeldCheckpoint;
  readonly #header: TransferHeader;
  /** The cursor of each created frame, so that a frame can be created again. */
  readonly #made: Cursor[] = [];
  #cursor = START;
  #buffered: { readonly offset: number; readonly frame: Buffer }[] = [];

  constructor(files: Files, source: HeldCheckpoint, header: Omit<TransferHeader, 'format'>) {
    this.#files = files;
    this.#source = source;
    this.#header = { format: FORMAT_VERSION, ...header };
  }

  /**
   * Returns up to `maxBytes` from `offset` on, fewer only at the end. Returns `undefined` if
   * another frame must be created first by `advance`.
   */
  read(
    offset: number,
    maxBytes: number,
  ): { readonly bytes: Uint8Array; readonly isLast: boolean } | undefined {
    this.#seek(offset);
    const isWhole = this.#cursor.position >= this.#source.bytes;
    const to = offset + maxBytes;
    if (!isWhole && to > this.#cursor.offset) return undefined;
    const parts = this.#buffered.map(({ offset: start, frame }) =>
      frame.subarray(Math.max(0, offset - start), Math.max(0, to - start)),
    );
    return {
      bytes: Buffer.concat(parts),
      isLast: isWhole && to >= this.#cursor.offset,
    };
  }

  /**
   * Creates a frame from the next one of the file, if that has something to send.
   * @throws Error if it cannot be read
   */
  advance(): void {
    const { index, readIndex, position, sum } = this.#cursor;
    const file = getFileNumber(this.#header.transfer);
    if (index === 0)
      return this.#add(encodeFrame(JSON.stringify(this.#header), { file, index }), this.#cursor);
    const frame = this.#readFrame(position, readIndex);
    const next = {
      ...this.#cursor,
      position: position + frame.length,
      readIndex: readIndex + 1,
    };
    const payload = frame.subarray(HEADER_BYTES);
    const isLast = next.position >= this.#source.bytes;
    // The first frame is the header of the donor's file.
    if (readIndex === 0) this.#cursor = next;
    // Most frames have no rows of the donor's own, and are sent unchanged.
    else if (!isLast && !payload.includes(OWN_ROW) && !payload.includes(COMMIT)) {
      this.#add(sealFrame(frame, { file, index }), next);
    } else {
      const text = selectShared(payload.toString(), isLast, sum);
      if (text === undefined) this.#cursor = next;
      else this.#add(encodeFrame(text, { file, index }), next);
    }
  }

  #add(frame: Buffer, next: Cursor): void {
    const { offset, index, sum } = this.#cursor;
    this.#made.push(this.#cursor);
    this.#buffered.push({ offset, frame });
    const payloadSum = crc32(frame.subarray(HEADER_BYTES), sum);
    this.#cursor = {
      ...next,
      offset: offset + frame.length,
      index: index + 1,
      sum: payloadSum,
    };
  }

  /**
   * Drops frames before `offset`, except for the newest `MAX_BUFFERED_BYTES` of them. If the frame
   * at `offset` was dropped already, frames are made again from there.
   */
  #seek(offset: number): void {
    if (offset < (this.#buffered[0]?.offset ?? 0)) {
      const back = this.#made.findLastIndex((made) => made.offset <= offset);
      this.#cursor = this.#made[back] as Cursor;
      this.#made.splice(back);
      this.#buffered = [];
    }
    while (this.#buffered.length > 1) {
      const next = (this.#buffered[1] as { readonly offset: number }).offset;
      if (next > offset || this.#cursor.offset - next < MAX_BUFFERED_BYTES) return;
      this.#buffered.shift();
    }
  }

  /** @throws Error if neither copy has the whole frame */
  #readFrame(position: number, index: number): Buffer {
    const { paths, number, bytes } = this.#source;
    for (const path of paths) {
      const head = this.#files.readPart(path, position, HEADER_BYTES);
      if (head.length < HEADER_BYTES || position + getFrameLength(head) > bytes) continue;
      const frame = this.#files.readPart(path, position, getFrameLength(head));
      if (decodeFrame(frame, { file: number, index }) !== undefined) return toBuffer(frame);
    }
    throw new Error(`${paths.join(' and ')} are damaged at byte ${position}`);
  }
}

/** Returns the part of a frame that is sent; `undefined` if there is none. Values stay encoded. */
function selectShared(payload: string, isLast: boolean, sum: number): string | undefined {
  const { rows, smallParts } = JSON.parse(payload) as {
    rows: readonly unknown[][];
    smallParts?: unknown;
  };
  const shared = rows
    .filter(([section]) => getPart(String(section)) === 'shared')
    .map((row) => JSON.stringify(row));
  if (!isLast) return shared.length === 0 ? undefined : formatRows(shared);
  const state = (decodeValue(JSON.stringify(smallParts)) as SavedSiteState).shared;
  const contained = getRedPositions(state, 0);
  return formatCommit(shared, {
    smallParts: encodeValue(state),
    contained,
    retainedFrom: contained,
    sum,
  });
}
