/**
 * Reads what an engine sent: big-endian numbers, text and bytes; what is cut
 * short is refused before memory is set aside.
 */
export abstract class ByteReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#advance(1));
  }

  short(): number {
    return this.#bytes.readUInt16BE(this.#advance(2));
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8));
  }

  /** Bytes as they are: a part of what was sent, not a copy. */
  raw(length: number): Buffer {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** `count` things of at least `leastBytes` bytes each. */
  readItems<T>(count: number, leastBytes: number, read: () => T): T[] {
    this.checkCount(count, leastBytes);
    const items: T[] = [];
    for (let n = 0; n < count; n += 1) items.push(read());
    return items;
  }

  /** Refuses a number of things that cannot be in what is left. */
  checkCount(count: number, leastBytes: number): void {
    if (count < 0 || count * leastBytes > this.remaining) {
      throw this.createError(
        `${count} entries announced, ${this.remaining} bytes left`,
      );
    }
  }

  protected text(length: number): string {
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** The protocol's own error for bytes that make no sense. */
  protected abstract createError(description: string): Error;

  #advance(count: number): number {
    if (count > this.remaining)
      throw this.createError(
        `it ends ${count - this.remaining} bytes too early`,
      );
    const at = this.#offset;
    this.#offset += count;
    return at;
  }
}
