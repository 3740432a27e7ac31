/**
 * What a site has received of a checkpoint file. It is stored as several part files, because each
 * start of the receiver begins a new one.
 */
import type { Checkpoint } from '../../service/records/checkpoint.ts';
import type { Files, SyncedFile } from '../storage/disk/files.ts';
import { readCheckpoint } from '../storage/format/checkpoint-file.ts';
import { FORMAT_VERSION, describeFormat } from '../storage/format/file-names.ts';
import {
  HEADER_BYTES,
  decodeFrame,
  decodeFrames,
  getFrameLength,
} from '../storage/format/frames.ts';
import type { TransferHeader } from './shared-frames.ts';
import { getFileNumber } from './transfer-messages.ts';

/** The directory of a transfer, beside that of the site. */
export const INCOMING = 'incoming';
const PARTS = `${INCOMING}/parts`;

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
    const bytes = this.#readParts();
    const header = readHeader(bytes);
    if (header === undefined) return undefined;
    let length = 0;
    for (const payload of decodeFrames(bytes, getFileNumber(header.transfer)))
      length += HEADER_BYTES + payload.length;
    this.#length = length;
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

  /** Returns the received checkpoint if it is complete, or a text that describes the problem. */
  read(transfer: string): Checkpoint | string {
    const bytes = this.#readParts().subarray(0, this.#length);
    const header = readHeader(bytes);
    if (header?.transfer !== transfer) return 'its first frame cannot be read';
    if (header.format !== FORMAT_VERSION) return `it ${describeFormat(header.format)}`;
    const { checkpoint, commits, damage } = readCheckpoint(bytes, getFileNumber(transfer));
    if (damage !== undefined) return damage;
    return checkpoint !== undefined && commits === 1 ? checkpoint : 'it has no end';
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

  /** Reads each part up to where the next one begins. */
  #readParts(): Buffer {
    const parts = this.#listParts();
    const bytes: Uint8Array[] = [];
    let length = 0;
    for (const [index, { start, name }] of parts.entries()) {
      if (start > length) break;
      const part = this.#files
        .read(`${PARTS}/${name}`)
        .subarray(0, (parts[index + 1]?.start ?? Infinity) - start);
      bytes.push(part);
      length = start + part.length;
    }
    return Buffer.concat(bytes);
  }
}

/** Reads the first frame. Its file number follows from the transfer that it names. */
function readHeader(bytes: Buffer): TransferHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.length < getFrameLength(bytes)) return undefined;
  const frame = bytes.subarray(0, getFrameLength(bytes));
  try {
    const header = JSON.parse(frame.toString('utf8', HEADER_BYTES)) as TransferHeader;
    return decodeFrame(frame, { file: getFileNumber(header.transfer), index: 0 }) && header;
  } catch {
    return undefined;
  }
}
