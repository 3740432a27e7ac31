/**
 * Frames on a link: four bytes with the length of what follows, one byte with
 * the type, the content.
 */

export const FRAME = {
  /** Bytes of `EnvelopeCodec`, or the last part of them. */
  envelope: 0,
  /** A control message in JSON. */
  control: 1,
  /** A slice of a state transfer. */
  slice: 2,
  /**
   * A part of an envelope, which ends with the next frame of the type
   * `envelope`.
   */
  part: 3,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

const LENGTH_BYTES = 4;
/** Bytes of a frame beside its content. */
export const FRAME_OVERHEAD_BYTES: number = LENGTH_BYTES + 1;
const LAST_TYPE = FRAME.part;
/**
 * A larger envelope travels in parts, so that a heartbeat or a request comes
 * between them.
 */
export const MAX_PART_BYTES: number = 1 << 16;

export interface Frame {
  readonly type: FrameType;
  readonly content: Uint8Array;
}

/** Bytes that are no frames: the connection cannot go on. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** The bytes before the content of a frame. */
export function encodeFrameHead(type: FrameType, length: number): Uint8Array {
  const head = Buffer.allocUnsafe(FRAME_OVERHEAD_BYTES);
  head.writeUInt32BE(length + 1, 0);
  head[LENGTH_BYTES] = type;
  return head;
}

/** Takes bytes as they come, and returns whole frames. */
export class FrameReader {
  readonly #maxBytes: () => number;
  #chunks: Buffer[] = [];
  #size = 0;
  /**
   * Bytes that the frame which has begun needs in all, as far as that is known.
   */
  #needed = LENGTH_BYTES;

  /** Whether a frame has begun to come, and has not ended. */
  get isInFrame(): boolean {
    return this.#size > 0;
  }

  /** @param maxBytes what a frame may have now */
  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns whole frames, parts of a chunk: copy what is kept. Throws
   * `FrameError` for a wrong type or size.
   */
  read(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return [];
    const bytes =
      this.#chunks.length === 1
        ? chunk
        : Buffer.concat(this.#chunks, this.#size);
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
      if (type > LAST_TYPE)
        throw new FrameError(`a frame has the unknown type ${type}`);
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
