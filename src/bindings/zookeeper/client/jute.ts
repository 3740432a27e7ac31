/**
 * Jute, the serialization of ZooKeeper: big-endian numbers, and strings, buffers and arrays after a
 * 32-bit length.
 */
import { ByteReader } from '../../shared/byte-reader.ts';
import { ByteWriter } from '../../shared/byte-writer.ts';
import { FrameSplitter } from '../../shared/frame-splitter.ts';
import { ZooKeeperError } from './errors.ts';

/** The size of the length before every frame. */
export const LENGTH_BYTES = 4;

/** The minimum size of an item of an array. */
const ELEMENT_BYTES = 4;

/** Writes one frame. The first four bytes are reserved for its length. */
export class JuteWriter extends ByteWriter {
  constructor() {
    super(LENGTH_BYTES);
  }

  bool(value: boolean): this {
    return this.byte(value ? 1 : 0);
  }

  /** Writes a buffer. `null` differs from an empty one. */
  buffer(value: Uint8Array | null): this {
    return value === null ? this.int(-1) : this.int(value.length).raw(value);
  }

  string(value: string): this {
    const length = Buffer.byteLength(value);
    return this.int(length).text(value, length);
  }

  list<T>(values: readonly T[], write: (writer: this, value: T) => void): this {
    this.int(values.length);
    for (const value of values) write(this, value);
    return this;
  }

  frame(): Buffer {
    const frame = this.toBuffer();
    frame.writeInt32BE(this.length, 0);
    return frame;
  }
}

/**
 * Reads the content of one frame. Malformed content is a `PROTOCOL_ERROR`, never an exception of
 * another kind.
 */
export class JuteReader extends ByteReader {
  /** Reads a 64-bit number that is a time or a count, so it is small enough to be exact. */
  longNumber(): number {
    return Number(this.long());
  }

  bool(): boolean {
    return this.byte() !== 0;
  }

  /** Reads a copy, so that a small value does not keep a large frame in memory. */
  buffer(): Uint8Array | null {
    const length = this.int();
    return length < 0 ? null : new Uint8Array(this.raw(length));
  }

  string(): string {
    const length = this.int();
    return length < 0 ? '' : this.text(length);
  }

  /** Reads an array. A negative length means that the array is absent, which counts as empty. */
  list<T>(read: (reader: this) => T): T[] {
    return this.readItems(Math.max(0, this.int()), ELEMENT_BYTES, () => read(this));
  }

  protected createError(description: string): ZooKeeperError {
    return new ZooKeeperError('PROTOCOL_ERROR', {
      hint: `the server sent what is no valid reply: ${description}`,
    });
  }
}

/**
 * Splits the bytes that arrive into the contents of frames. Throws a `ZooKeeperError`
 * `PROTOCOL_ERROR` for an impossible length.
 */
export function createJuteSplitter(maxBytes: number): FrameSplitter<Buffer> {
  return new FrameSplitter({
    headerBytes: LENGTH_BYTES,
    getContentBytes(bytes, at) {
      const length = bytes.readInt32BE(at);
      if (length >= 0 && length <= maxBytes) return length;
      const hint = `a frame of ${length} bytes, over maxReplyBytes, or no ZooKeeper at all`;
      throw new ZooKeeperError('PROTOCOL_ERROR', { hint });
    },
    read: (bytes, at, end) => bytes.subarray(at + LENGTH_BYTES, end),
  });
}
