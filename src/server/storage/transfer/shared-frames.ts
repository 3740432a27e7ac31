/**
 * The shared part of a checkpoint file, without what is the donor's own. Its
 * frames are made as they are read.
 */
import { crc32 } from 'node:zlib';
import { getPart } from '../../records/checkpoint.ts';
import type { SavedSiteState } from '../../log/recovered-state.ts';
import type { HeldCheckpoint } from '../checkpointer.ts';
import type { Files } from '../disk/files.ts';
import { formatCommit, formatRows } from '../format/checkpoint-file.ts';
import { FORMAT_VERSION } from '../format/file-names.ts';
import {
  HEADER_BYTES,
  decodeFrame,
  encodeFrame,
  getFrameLength,
  sealFrame,
  toBuffer,
} from '../format/frames.ts';
import { decodeValue } from '../format/value-text.ts';
import { getFileNumber } from './transfer-messages.ts';

/** What the first frame of a transfer says. */
export interface TransferHeader {
  readonly format: number;
  readonly transfer: string;
  /** The name of the site whose checkpoint it is. */
  readonly donor: string;
}

/** Where the making of frames has got to. */
interface Cursor {
  /**
   * Of the next frame that is made: its place in the transfer, its number, and
   * the checksum of the payloads before it.
   */
  readonly offset: number;
  readonly index: number;
  readonly sum: number;
  /** Of the next one that is read: its place in the file, and its number. */
  readonly position: number;
  readonly readIndex: number;
}

/** So much of what was made is kept for requests that are repeated. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const START: Cursor = {
  offset: 0,
  index: 0,
  sum: 0,
  position: 0,
  readIndex: 0,
};
/** What rows of the donor's own begin with, and what a commit has. */
const OWN_ROW = Buffer.from('["own.');
const COMMIT = Buffer.from('"smallParts":');

export class SharedFrames {
  readonly #files: Files;
  readonly #source: HeldCheckpoint;
  readonly #header: TransferHeader;
  /** Where each frame was made from: one that is needed again is made again. */
  readonly #made: Cursor[] = [];
  #cursor = START;
  #buffered: { readonly offset: number; readonly frame: Buffer }[] = [];

  constructor(
    files: Files,
    source: HeldCheckpoint,
    header: Omit<TransferHeader, 'format'>,
  ) {
    this.#files = files;
    this.#source = source;
    this.#header = { format: FORMAT_VERSION, ...header };
  }

  /**
   * Up to `maxBytes` from `offset` on, fewer only at the end; `undefined` where
   * another frame has to be made first: `advance`.
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
   * Makes a frame of the next one of the file, if that has something to send.
   * @throws Error if it cannot be read
   */
  advance(): void {
    const { index, readIndex, position, sum } = this.#cursor;
    const file = getFileNumber(this.#header.transfer);
    if (index === 0)
      return this.#add(
        encodeFrame(JSON.stringify(this.#header), { file, index }),
        this.#cursor,
      );
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
    // Most frames have nothing of the donor's own: they go as they are.
    else if (
      !isLast &&
      !payload.includes(OWN_ROW) &&
      !payload.includes(COMMIT)
    ) {
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
   * Lets go of what stands well before `offset`, or goes back where that is
   * needed.
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
      if (next > offset || this.#cursor.offset - next < MAX_BUFFERED_BYTES)
        return;
      this.#buffered.shift();
    }
  }

  /** @throws Error where neither file has it whole */
  #readFrame(position: number, index: number): Buffer {
    const { paths, number, bytes } = this.#source;
    for (const path of paths) {
      const head = this.#files.readPart(path, position, HEADER_BYTES);
      if (head.length < HEADER_BYTES || position + getFrameLength(head) > bytes)
        continue;
      const frame = this.#files.readPart(path, position, getFrameLength(head));
      if (decodeFrame(frame, { file: number, index }) !== undefined)
        return toBuffer(frame);
    }
    throw new Error(`${paths.join(' and ')} are damaged at byte ${position}`);
  }
}

/**
 * What of a frame is sent; `undefined` where nothing is. Values stay as they
 * are written.
 */
function selectShared(
  payload: string,
  isLast: boolean,
  sum: number,
): string | undefined {
  const { rows, smallParts } = JSON.parse(payload) as {
    rows: readonly unknown[][];
    smallParts?: unknown;
  };
  const shared = rows
    .filter(([section]) => getPart(String(section)) === 'shared')
    .map((row) => JSON.stringify(row));
  if (!isLast) return shared.length === 0 ? undefined : formatRows(shared);
  const state = (decodeValue(JSON.stringify(smallParts)) as SavedSiteState)
    .shared;
  const contained = { local: 0, red: state.log.delivered };
  return formatCommit(shared, {
    smallParts: state,
    contained,
    retainedFrom: contained,
    sum,
  });
}
