/** Reads the body of a response; what is cut short or longer than the body is refused before memory is set aside. */
import { protocolError } from './cql-error.ts';

export class BodyReader {
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

  string(): string {
    const length = this.short();
    const at = this.#step(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  bytes(): Buffer | null {
    const length = this.int();
    return length < 0 ? null : this.raw(length);
  }

  shortBytes(): Buffer {
    return this.raw(this.short());
  }

  stringList(): string[] {
    return this.list(this.short(), 2, () => this.string());
  }

  /** `count` things of at least `leastBytes` bytes each. */
  list<T>(count: number, leastBytes: number, read: () => T): T[] {
    this.checkCount(count, leastBytes);
    const items: T[] = [];
    for (let n = 0; n < count; n += 1) items.push(read());
    return items;
  }

  /** Refuses a number of things that cannot be in what is left. */
  checkCount(count: number, leastBytes: number): void {
    if (count < 0 || count * leastBytes > this.rest) {
      throw protocolError(`${count} entries announced, ${this.rest} bytes left`);
    }
  }

  /** Bytes as they are: a part of the body, not a copy. */
  raw(length: number): Buffer {
    const at = this.#step(length);
    return this.#bytes.subarray(at, at + length);
  }

  #step(count: number): number {
    const at = this.#at;
    if (count > this.rest) throw protocolError(`the body ends ${count - this.rest} bytes too early`);
    this.#at += count;
    return at;
  }
}
