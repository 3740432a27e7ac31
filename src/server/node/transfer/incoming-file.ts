/**
 * What a site has received of a checkpoint file. It is stored as several part files, because each
 * start of the receiver begins a new one.
 */
import type { Files, SyncedFile } from '../storage/disk/files.ts';
import {
  CheckpointRows,
  readFrames,
  summarizeCheckpoint,
  type ByteSource,
} from '../storage/format/checkpoint-rows.ts';
import { FORMAT_VERSION, describeFormat } from '../storage/format/file-names.ts';
import { HEADER_BYTES, decodeFrame, getFrameLength, toBuffer } from '../storage/format/frames.ts';
import type { ImportedRow } from '../storage/rows/import-state.ts';
import type { TransferHeader } from './shared-frames.ts';
import { getFileNumber } from './transfer-messages.ts';

/** The directory of a transfer, beside that of the site. */
export const INCOMING = 'incoming';
const PARTS = `${INCOMING}/parts`;
/** The first frame has some names. */
const MAX_HEADER_BYTES = 2 ** 16;

/** The shared part of the state of another site. */
export interface IncomingState {
  readonly smallParts: unknown;
  /** They are read from the received file each time, so it must stay. No two have the same name. */
  readonly rows: Iterable<ImportedRow>;
}

export class IncomingFile {
  readonly #files: Files;
  #part: { readonly file: SyncedFile; readonly start: number } | undefined;
  #length = 0;

  constructor(files: Files) {
    this.#files = files;
  }

  /** How many bytes are on the disk. */
  get length(): number {
    return this.#length;
  }

  /** Continues with the whole frames of an earlier start. Returns `undefined` if there are none. */
  resume(): TransferHeader | undefined {
    const source = this.#createSource(Infinity);
    const header = readHeader(source);
    if (header === undefined) return undefined;
    this.#length = 0;
    for (const { end } of readFrames(source, getFileNumber(header.transfer))) this.#length = end;
    return header;
  }

  clear(): void {
    this.close();
    this.#files.removeNow(PARTS);
    this.#length = 0;
  }

  /**
   * Writes the next bytes, and calls back once they are on the disk. Call it again only after that.
   * @throws Error if no file can be made
   */
  append(bytes: Uint8Array, done: (error: Error | undefined) => void): void {
    this.#part ??= this.#createPart(this.#length);
    this.#part.file.write(bytes, this.#length - this.#part.start, (error) => {
      if (error === undefined) this.#length += bytes.length;
      done(error);
    });
  }

  /**
   * Returns the received state if it is complete, or a text that describes the problem. Yields
   * about how many characters of work each step was.
   */
  *read(transfer: string): Generator<number, IncomingState | string, void> {
    const source = this.#createSource(this.#length);
    const header = readHeader(source);
    if (header?.transfer !== transfer) return 'its first frame cannot be read';
    if (header.format !== FORMAT_VERSION) return `it ${describeFormat(header.format)}`;
    const file = getFileNumber(transfer);
    const summary = yield* summarizeCheckpoint(source, file);
    const { last, commits, damage } = summary;
    if (damage !== undefined) return damage;
    if (last === undefined || commits !== 1) return 'it has no end';
    const rows = new CheckpointRows(source, file, summary);
    if (header.isDistinct !== true) yield* rows.findLast();
    return { smallParts: last.smallParts, rows };
  }

  close(): void {
    this.#part?.file.close();
    this.#part = undefined;
  }

  #createPart(start: number): {
    readonly file: SyncedFile;
    readonly start: number;
  } {
    this.#files.makeDirectory(INCOMING);
    this.#files.makeDirectory(PARTS);
    const path = `${PARTS}/${String(start).padStart(16, '0')}.part`;
    // An earlier start may have begun a part there without a whole frame. Parts after it do not
    // count.
    for (const { start: other, name } of this.#listParts()) {
      if (other >= start) this.#files.removeNow(`${PARTS}/${name}`);
    }
    return { file: this.#files.createNow(path, 0), start };
  }

  #listParts(): { readonly start: number; readonly name: string }[] {
    const names = this.#files.list(PARTS).filter((name) => /^\d+\.part$/.test(name));
    return names
      .map((name) => ({ start: Number.parseInt(name, 10), name }))
      .toSorted((a, b) => a.start - b.start);
  }

  /** Creates a source that has each part up to where the next one begins. */
  #createSource(length: number): ByteSource {
    const parts = this.#listParts();
    return {
      read: (position, wanted) => {
        const pieces: Uint8Array[] = [];
        const end = Math.min(length, position + wanted);
        for (let at = position; at < end;) {
          const index = parts.findLastIndex(({ start }) => start <= at);
          const part = parts[index];
          if (part === undefined) break;
          const partEnd = Math.min(end, parts[index + 1]?.start ?? Infinity);
          const path = `${PARTS}/${part.name}`;
          const piece = this.#files.readPart(path, at - part.start, partEnd - at);
          pieces.push(piece);
          at += piece.length;
          // Parts behind a gap do not count.
          if (at < partEnd) break;
        }
        return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
      },
    };
  }
}

/** Reads the first frame. Its file number follows from the transfer that it names. */
function readHeader(source: ByteSource): TransferHeader | undefined {
  const head = toBuffer(source.read(0, HEADER_BYTES));
  if (head.length < HEADER_BYTES || getFrameLength(head) > MAX_HEADER_BYTES) return undefined;
  const frame = toBuffer(source.read(0, getFrameLength(head)));
  try {
    const header = JSON.parse(frame.toString('utf8', HEADER_BYTES)) as TransferHeader;
    return decodeFrame(frame, { file: getFileNumber(header.transfer), index: 0 }) && header;
  } catch {
    return undefined;
  }
}
