/** Cuts the bytes of a connection into frames, however they arrive. */
import { ZooKeeperError } from './errors.ts';

export const LENGTH_BYTES = 4;

export class FrameSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes what arrived and hands on the content of each whole frame.
   *
   * @throws ZooKeeperError `PROTOCOL_ERROR` for a length that cannot be
   */
  push(chunk: Buffer, onFrame: (content: Buffer) => void): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    let bytes: Buffer | undefined;
    let at = 0;
    while (this.#held - at >= LENGTH_BYTES) {
      bytes ??= this.#joined();
      const length = bytes.readInt32BE(at);
      if (length < 0 || length > this.#maxBytes) {
        const hint = `a frame of ${length} bytes, over maxReplyBytes, or no ZooKeeper at all`;
        throw new ZooKeeperError('PROTOCOL_ERROR', { hint });
      }
      if (this.#held - at - LENGTH_BYTES < length) break;
      const start = at + LENGTH_BYTES;
      at = start + length;
      onFrame(bytes.subarray(start, at));
    }
    if (bytes === undefined || at === 0) return;
    this.#parts = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#held -= at;
  }

  #joined(): Buffer {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only !== undefined) return only;
    const joined = Buffer.concat(this.#parts, this.#held);
    this.#parts = [joined];
    return joined;
  }
}
