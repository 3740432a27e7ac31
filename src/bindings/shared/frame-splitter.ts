/** Splits the bytes of a connection into frames. The chunks may arrive in any sizes. */

/** The frame format of a protocol. */
export interface Framing<T> {
  readonly headerBytes: number;
  /** Reads the number of bytes that follow the header at `at`. Throws if the header is invalid. */
  readonly getContentBytes: (bytes: Buffer, at: number) => number;
  /**
   * Reads the frame from `at` to `end`. The result may share the bytes that arrived, so it has to
   * be read at once or copied.
   */
  readonly read: (bytes: Buffer, at: number, end: number) => T;
}

export class FrameSplitter<T> {
  readonly #framing: Framing<T>;
  #parts: Buffer[] = [];
  #bufferedBytes = 0;
  /**
   * The number of bytes that the next frame needs. A frame that arrives in many chunks is joined
   * only once.
   */
  #neededBytes: number;

  constructor(framing: Framing<T>) {
    this.#framing = framing;
    this.#neededBytes = framing.headerBytes;
  }

  /**
   * Adds the bytes that arrived and passes on each complete frame. Throws what `getContentBytes`
   * throws.
   */
  push(chunk: Buffer, onFrame: (frame: T) => void): void {
    this.#parts.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes < this.#neededBytes) return;
    const { headerBytes, getContentBytes, read } = this.#framing;
    const bytes =
      this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#bufferedBytes);
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      this.#neededBytes =
        left < headerBytes ? headerBytes : headerBytes + getContentBytes(bytes, at);
      if (left < this.#neededBytes) break;
      const frame = read(bytes, at, at + this.#neededBytes);
      at += this.#neededBytes;
      onFrame(frame);
    }
    this.#parts = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#bufferedBytes = bytes.length - at;
  }
}
