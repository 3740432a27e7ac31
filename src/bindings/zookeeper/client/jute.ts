/** Jute, ZooKeeper's serialisation: big-endian numbers, and strings, buffers and lists with a 32-bit length in front. */
import { ZooKeeperError } from './errors.ts';

const SMALL = 128;

/** Writes one frame: the four bytes of its length are kept free at the start. */
export class JuteWriter {
  #bytes = Buffer.allocUnsafe(SMALL);
  #end = 4;

  int(value: number): this {
    this.#end = this.#room(4).writeInt32BE(value, this.#end);
    return this;
  }

  long(value: bigint): this {
    this.#end = this.#room(8).writeBigInt64BE(value, this.#end);
    return this;
  }

  bool(value: boolean): this {
    this.#end = this.#room(1).writeUInt8(value ? 1 : 0, this.#end);
    return this;
  }

  /** A buffer; `null` is not the same as an empty one. */
  buffer(value: Uint8Array | null): this {
    if (value === null) return this.int(-1);
    this.int(value.length);
    this.#room(value.length).set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  string(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    this.#end += this.#room(length).write(value, this.#end, 'utf8');
    return this;
  }

  list<T>(values: readonly T[], write: (writer: this, value: T) => void): this {
    this.int(values.length);
    for (const value of values) write(this, value);
    return this;
  }

  /** How many bytes the frame has so far, without its length in front. */
  get length(): number {
    return this.#end - 4;
  }

  /** The frame, with its length in front. */
  frame(): Buffer {
    this.#bytes.writeInt32BE(this.#end - 4, 0);
    return this.#bytes.subarray(0, this.#end);
  }

  #room(count: number): Buffer {
    if (this.#end + count <= this.#bytes.length) return this.#bytes;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#end + count));
    this.#bytes.copy(grown, 0, 0, this.#end);
    return (this.#bytes = grown);
  }
}

/** Reads the content of one frame. What does not fit is a `PROTOCOL_ERROR`, never an exception of another kind. */
export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** How many bytes are left. */
  get rest(): number {
    return this.#bytes.length - this.#at;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  /** A 64-bit number that is a time or a count, small enough to be exact. */
  longNumber(): number {
    return Number(this.long());
  }

  bool(): boolean {
    return this.#bytes[this.#take(1)] !== 0;
  }

  /** A copy, so that a small value does not keep a large frame in memory. */
  buffer(): Uint8Array | null {
    const length = this.int();
    if (length < 0) return null;
    const start = this.#take(length);
    return new Uint8Array(this.#bytes.subarray(start, start + length));
  }

  string(): string {
    const length = this.int();
    if (length < 0) return '';
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  list<T>(read: (reader: this) => T): T[] {
    const count = this.int();
    // Every element takes four bytes at least: a count that cannot be is refused before memory is set aside for it.
    if (count > this.rest / 4) throw malformed(`a list of ${count} elements in ${this.rest} bytes`);
    const values: T[] = [];
    for (let n = 0; n < count; n += 1) values.push(read(this));
    return values;
  }

  #take(count: number): number {
    if (count > this.rest) throw malformed(`${count} bytes expected, ${this.rest} left`);
    const start = this.#at;
    this.#at += count;
    return start;
  }
}

function malformed(what: string): ZooKeeperError {
  return new ZooKeeperError('PROTOCOL_ERROR', { hint: `the server sent what is no valid reply: ${what}` });
}
