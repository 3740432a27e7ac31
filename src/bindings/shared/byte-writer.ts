/** Writes big-endian numbers, text and bytes, with room for a header at the start. */
const INITIAL_BYTES = 256;

export class ByteWriter {
  protected readonly headerBytes: number;
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #end: number;

  /**
   * @param headerBytes how many bytes stay free at the start, to be filled in at the end; at most
   * 256
   */
  constructor(headerBytes: number) {
    this.headerBytes = headerBytes;
    this.#end = headerBytes;
  }

  /** The number of bytes that have been written, without the header. */
  get length(): number {
    return this.#end - this.headerBytes;
  }

  byte(value: number): this {
    this.#end = this.#ensureCapacity(1).writeUInt8(value, this.#end);
    return this;
  }

  short(value: number): this {
    this.#end = this.#ensureCapacity(2).writeUInt16BE(value, this.#end);
    return this;
  }

  int(value: number): this {
    this.#end = this.#ensureCapacity(4).writeInt32BE(value, this.#end);
    return this;
  }

  long(value: bigint): this {
    this.#end = this.#ensureCapacity(8).writeBigInt64BE(value, this.#end);
    return this;
  }

  /** Writes bytes without their length. */
  raw(value: Uint8Array): this {
    this.#ensureCapacity(value.length).set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /**
   * Writes text in UTF-8 without its length. @param length the number of bytes of the text, which
   * the caller has computed already
   */
  protected text(value: string, length: number): this {
    this.#end += this.#ensureCapacity(length).write(value, this.#end, 'utf8');
    return this;
  }

  /** Returns the written bytes after the room for the header. */
  protected toBuffer(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  #ensureCapacity(count: number): Buffer {
    if (this.#end + count <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + count));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
    return larger;
  }
}
