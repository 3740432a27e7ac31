/** Writes one request: big-endian numbers, and strings, bytes and maps with their lengths in front. */
import { HEADER_BYTES, NULL_LENGTH, VERSION } from './protocol.ts';

const SMALL = 256;
const STREAM_AT = 2;
const LENGTH_AT = 5;

export class FrameWriter {
  #bytes = Buffer.allocUnsafe(SMALL);
  #end = HEADER_BYTES;

  byte(value: number): this {
    this.#end = this.#room(1).writeUInt8(value, this.#end);
    return this;
  }

  short(value: number): this {
    this.#end = this.#room(2).writeUInt16BE(value, this.#end);
    return this;
  }

  int(value: number): this {
    this.#end = this.#room(4).writeInt32BE(value, this.#end);
    return this;
  }

  string(value: string): this {
    const length = Buffer.byteLength(value);
    this.short(length);
    return this.#text(value, length);
  }

  longString(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    return this.#text(value, length);
  }

  /** Bytes; `null` is not the same as none. */
  bytes(value: Uint8Array | null): this {
    return value === null ? this.int(NULL_LENGTH) : this.int(value.length).raw(value);
  }

  shortBytes(value: Uint8Array): this {
    return this.short(value.length).raw(value);
  }

  stringMap(entries: readonly (readonly [string, string])[]): this {
    this.short(entries.length);
    for (const [key, value] of entries) this.string(key).string(value);
    return this;
  }

  bytesMap(entries: readonly (readonly [string, Uint8Array])[]): this {
    this.short(entries.length);
    for (const [key, value] of entries) this.string(key).bytes(value);
    return this;
  }

  /** Bytes as they are, without a length. */
  raw(value: Uint8Array): this {
    this.#room(value.length).set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /** The frame, its stream to be filled in by `setStream`. */
  frame(opcode: number, flags = 0): Buffer {
    const frame = this.#bytes.subarray(0, this.#end);
    frame.writeUInt8(VERSION, 0);
    frame.writeUInt8(flags, 1);
    frame.writeInt16BE(0, STREAM_AT);
    frame.writeUInt8(opcode, STREAM_AT + 2);
    frame.writeInt32BE(this.#end - HEADER_BYTES, LENGTH_AT);
    return frame;
  }

  #text(value: string, length: number): this {
    this.#end += this.#room(length).write(value, this.#end, 'utf8');
    return this;
  }

  #room(count: number): Buffer {
    if (this.#end + count <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + count));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
    return larger;
  }
}

/** Says which stream a frame goes out on. */
export function setStream(frame: Buffer, stream: number): void {
  frame.writeInt16BE(stream, STREAM_AT);
}
