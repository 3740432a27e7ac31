/**
 * Frames on a link: four bytes with the length of the rest, one byte with the type, and the
 * content.
 */

export const FRAME = {
  /** Bytes of `EnvelopeCodec`, or the last part of them. */
  envelope: 0,
  /** A control message in JSON. */
  control: 1,
  /** A slice of a state transfer. */
  slice: 2,
  /** A part of an envelope. The envelope ends with the next frame of type `envelope`. */
  part: 3,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

const LENGTH_BYTES = 4;
/** Bytes of a frame beside its content. */
export const FRAME_OVERHEAD_BYTES: number = LENGTH_BYTES + 1;
const LAST_TYPE = FRAME.part;
/** A larger envelope is sent in parts, so that heartbeats and requests can come between them. */
export const MAX_PART_BYTES: number = 1 << 16;

export interface Frame {
  readonly type: FrameType;
  readonly content: Uint8Array;
}

/** Reports that the bytes are not a frame, so the connection must be closed. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Encodes the bytes before the content of a frame. */
export function encodeFrameHead(type: FrameType, length: number): Uint8Array {
  const head = Buffer.allocUnsafe(FRAME_OVERHEAD_BYTES);
  head.writeUInt32BE(length + 1, 0);
  head[LENGTH_BYTES] = type;
  return head;
}

/** Receives bytes in chunks of any size, and returns whole frames. */
export class FrameReader {
  readonly #maxBytes: () => number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Total bytes of the frame that has begun, as far as its length is known. */
  #needed = LENGTH_BYTES;

  /** Whether a frame has begun and not ended yet. */
  get isInFrame(): boolean {
    return this.#size > 0;
  }

  /** @param maxBytes returns the maximum size of a frame now */
  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns whole frames as parts of a chunk: copy what is kept. Throws `FrameError` for an invalid
   * type or size.
   */
  read(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size);
    const frames: Frame[] = [];
    let position = 0;
    this.#needed = LENGTH_BYTES;
    while (bytes.length - position >= LENGTH_BYTES) {
      const length = bytes.readUInt32BE(position);
      if (length < 1 || length - 1 > this.#maxBytes())
        throw new FrameError(`a frame of ${length} bytes is not allowed`);
      this.#needed = LENGTH_BYTES + length;
      if (bytes.length - position < this.#needed) break;
      const type = bytes[position + LENGTH_BYTES] as number;
      if (type > LAST_TYPE) throw new FrameError(`a frame has the unknown type ${type}`);
      const end = position + this.#needed;
      frames.push({
        type: type as FrameType,
        content: bytes.subarray(position + FRAME_OVERHEAD_BYTES, end),
      });
      position = end;
      this.#needed = LENGTH_BYTES;
    }
    this.#size = bytes.length - position;
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(position)];
    return frames;
  }
}
