/**
 * Finds the end of the frames in a log file that a process may be writing. Whole frames stay as
 * they are, so an end that was found once is the place to go on from.
 */
import { decodeFrame, getFrameLength, HEADER_BYTES } from '../storage/format/frames.ts';
import { findDamage } from '../storage/format/log-file-reader.ts';

/** Reads a part of the file as it is now. It may be shorter at the end of the file. */
type ReadPart = (position: number, length: number) => Uint8Array;

/** The size of a part that is read to find frames in it. A larger frame is read alone. */
const PART_BYTES = 1024 * 1024;

export class LogEnd {
  readonly #file: number;
  readonly #read: ReadPart;
  /** The number of whole frames at the beginning of the file. */
  #frames: number;
  #position: number;

  /** @param from an end of the same file that was found before */
  constructor(file: number, read: ReadPart, from?: LogEnd) {
    this.#file = file;
    this.#read = read;
    this.#frames = from?.frames ?? 0;
    this.#position = from?.position ?? 0;
  }

  get frames(): number {
    return this.#frames;
  }

  /** The number of bytes of the whole frames. */
  get position(): number {
    return this.#position;
  }

  /** Goes on to the first frame that is not whole. Returns whether there was a further frame. */
  advance(): boolean {
    const before = this.#frames;
    // A head of zeros is the usual end, and takes much less time than a part.
    while (this.#readLength() > HEADER_BYTES && this.#advanceInPart());
    return this.#frames > before;
  }

  /** Whether frames behind the end prove that there was one at the end. */
  isDamaged(): boolean {
    do {
      const bytes = this.#read(this.#position, Number.MAX_SAFE_INTEGER);
      const end = { file: this.#file, index: this.#frames, position: 0 };
      if (findDamage(bytes, end) === undefined) return false;
      // Such frames are written after the one at the end. If that is not whole by now, it was.
    } while (this.advance());
    return true;
  }

  #readLength(): number {
    const head = this.#read(this.#position, HEADER_BYTES);
    return head.length < HEADER_BYTES ? 0 : getFrameLength(head);
  }

  #advanceInPart(): boolean {
    const length = Math.max(this.#readLength(), PART_BYTES);
    const bytes = this.#read(this.#position, length);
    const before = this.#frames;
    for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
      const end = at + getFrameLength(bytes.subarray(at));
      const frame = bytes.subarray(at, end);
      if (decodeFrame(frame, { file: this.#file, index: this.#frames }) === undefined) break;
      this.#frames += 1;
      this.#position += end - at;
      at = end;
    }
    return this.#frames > before;
  }
}
