/** Writes one request: big-endian numbers, and strings, bytes and maps after their lengths. */
import { ByteWriter } from '../../bindings/shared/byte-writer.ts';
import { HEADER_BYTES, NULL_LENGTH, VERSION } from './protocol.ts';

const STREAM_OFFSET = 2;
const LENGTH_OFFSET = 5;

export class FrameWriter extends ByteWriter {
  constructor() {
    super(HEADER_BYTES);
  }

  string(value: string): this {
    const length = Buffer.byteLength(value);
    this.short(length);
    return this.text(value, length);
  }

  longString(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    return this.text(value, length);
  }

  /** Writes bytes. `null` differs from an empty array. */
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

  /** Returns the frame. `setStream` fills in its stream later. */
  frame(opcode: number, flags = 0): Buffer {
    const frame = this.toBuffer();
    frame.writeUInt8(VERSION, 0);
    frame.writeUInt8(flags, 1);
    frame.writeInt16BE(0, STREAM_OFFSET);
    frame.writeUInt8(opcode, STREAM_OFFSET + 2);
    frame.writeInt32BE(this.length, LENGTH_OFFSET);
    return frame;
  }
}

export function setStream(frame: Buffer, stream: number): void {
  frame.writeInt16BE(stream, STREAM_OFFSET);
}
