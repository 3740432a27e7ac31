/**
 * Reads big-endian numbers, text and bytes that an engine sent. Truncated input is rejected before
 * memory is reserved.
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

  /** Returns bytes as a view of the input, not a copy. */
  raw(length: number): Buffer {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Reads `count` items of at least `leastBytes` bytes each. */
  readItems<T>(count: number, leastBytes: number, read: () => T): T[] {
    this.checkCount(count, leastBytes);
    const items: T[] = [];
    for (let n = 0; n < count; n += 1) items.push(read());
    return items;
  }

  /** Throws for a number of items that cannot fit into the rest of the input. */
  checkCount(count: number, leastBytes: number): void {
    if (count < 0 || count * leastBytes > this.remaining) {
      throw this.createError(`${count} entries announced, ${this.remaining} bytes left`);
    }
  }

  protected text(length: number): string {
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** Creates the protocol's own error for malformed bytes. */
  protected abstract createError(description: string): Error;

  #advance(count: number): number {
    if (count > this.remaining)
      throw this.createError(`it ends ${count - this.remaining} bytes too early`);
    const at = this.#offset;
    this.#offset += count;
    return at;
  }
}
