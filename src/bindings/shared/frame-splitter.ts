/** Cuts the bytes of a connection into frames, however they arrive. */

/** How a protocol frames what it sends. */
export interface Framing<T> {
  readonly headerBytes: number;
  /**
   * Reads how many bytes follow the header that begins at `at`. Throws for a
   * header that cannot be.
   */
  readonly getContentBytes: (bytes: Buffer, at: number) => number;
  /**
   * Reads the frame from `at` to `end`: what it keeps of the bytes is a part of
   * what arrived, to be read at once or copied.
   */
  readonly read: (bytes: Buffer, at: number, end: number) => T;
}

export class FrameSplitter<T> {
  readonly #framing: Framing<T>;
  #parts: Buffer[] = [];
  #bufferedBytes = 0;
  /**
   * So many bytes are needed to go on: a frame that comes in many pieces is put
   * together once.
   */
  #neededBytes: number;

  constructor(framing: Framing<T>) {
    this.#framing = framing;
    this.#neededBytes = framing.headerBytes;
  }

  /**
   * Takes what arrived and hands on each whole frame. Throws what
   * `getContentBytes` throws.
   */
  push(chunk: Buffer, onFrame: (frame: T) => void): void {
    this.#parts.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes < this.#neededBytes) return;
    const { headerBytes, getContentBytes, read } = this.#framing;
    const bytes =
      this.#parts.length === 1
        ? chunk
        : Buffer.concat(this.#parts, this.#bufferedBytes);
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      this.#neededBytes =
        left < headerBytes
          ? headerBytes
          : headerBytes + getContentBytes(bytes, at);
      if (left < this.#neededBytes) break;
      const frame = read(bytes, at, at + this.#neededBytes);
      at += this.#neededBytes;
      onFrame(frame);
    }
    this.#parts = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#bufferedBytes = bytes.length - at;
  }
}
