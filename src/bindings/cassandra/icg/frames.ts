/** Cuts the bytes of a connection into frames, however they arrive. */
import { protocolError } from './cql-error.ts';
import { HEADER_BYTES, RESPONSE_BIT, VERSION } from './protocol.ts';

/** A whole frame. The body is a part of what arrived: it is read at once or copied. */
export interface Frame {
  readonly flags: number;
  /** The stream of the request that is answered; negative for events. */
  readonly stream: number;
  readonly opcode: number;
  readonly body: Buffer;
}

const AT = { version: 0, flags: 1, stream: 2, opcode: 4, length: 5 } as const;

export class FrameSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  /** So many bytes are needed to go on: a frame that comes in many pieces is put together once. */
  #needed: number = HEADER_BYTES;

  /** @param maxBytes the longest body that is accepted */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes what arrived and hands on each whole frame.
   *
   * @throws CqlError `PROTOCOL` for another version of the protocol or a length that cannot be
   */
  push(chunk: Buffer, onFrame: (frame: Frame) => void): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#held);
    let at = 0;
    for (;;) {
      const rest = bytes.length - at;
      this.#needed = rest < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + this.#bodyLength(bytes, at);
      if (rest < this.#needed) break;
      const end = at + this.#needed;
      const frame = {
        flags: bytes.readUInt8(at + AT.flags),
        stream: bytes.readInt16BE(at + AT.stream),
        opcode: bytes.readUInt8(at + AT.opcode),
        body: bytes.subarray(at + HEADER_BYTES, end),
      };
      at = end;
      onFrame(frame);
    }
    this.#parts = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#held = bytes.length - at;
  }

  #bodyLength(bytes: Buffer, at: number): number {
    const version = bytes.readUInt8(at + AT.version);
    if (version !== (VERSION | RESPONSE_BIT)) {
      const spoken =
        (version & RESPONSE_BIT) === 0 ? 'no answers of CQL' : `protocol version ${version & ~RESPONSE_BIT}`;
      throw protocolError(`the server speaks ${spoken}; version ${VERSION} is needed`);
    }
    const length = bytes.readInt32BE(at + AT.length);
    if (length >= 0 && length <= this.#maxBytes) return length;
    throw protocolError(`a frame of ${length} bytes: more than maxFrameBytes (${this.#maxBytes})`);
  }
}
