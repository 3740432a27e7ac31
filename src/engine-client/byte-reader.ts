/** Reads what an engine sent: big-endian numbers, text and bytes; what is cut short is refused before memory is set aside. */
export abstract class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** How many bytes are left. */
  get rest(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#step(1));
  }

  short(): number {
    return this.#bytes.readUInt16BE(this.#step(2));
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#step(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#step(8));
  }

  /** Bytes as they are: a part of what was sent, not a copy. */
  raw(length: number): Buffer {
    const at = this.#step(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** `count` things of at least `leastBytes` bytes each. */
  items<T>(count: number, leastBytes: number, read: () => T): T[] {
    this.checkCount(count, leastBytes);
    const items: T[] = [];
    for (let n = 0; n < count; n += 1) items.push(read());
    return items;
  }

  /** Refuses a number of things that cannot be in what is left. */
  checkCount(count: number, leastBytes: number): void {
    if (count < 0 || count * leastBytes > this.rest) {
      throw this.refusal(`${count} entries announced, ${this.rest} bytes left`);
    }
  }

  /** UTF-8 of so many bytes. */
  protected text(length: number): string {
    const at = this.#step(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** The protocol's own error for bytes that make no sense. */
  protected abstract refusal(what: string): Error;

  #step(count: number): number {
    if (count > this.rest) throw this.refusal(`it ends ${count - this.rest} bytes too early`);
    const at = this.#at;
    this.#at += count;
    return at;
  }
}
