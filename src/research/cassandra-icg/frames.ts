/** The frames of a node's replies. */
import { FrameSplitter } from '../../bindings/shared/frame-splitter.ts';
import { createProtocolError } from './cql-error.ts';
import { HEADER_BYTES, RESPONSE_BIT, VERSION } from './protocol.ts';

/**
 * A complete frame. The body shares the bytes that arrived, so it has to be read at once or copied.
 */
export interface Frame {
  readonly flags: number;
  /** The stream of the answered request. Negative for events. */
  readonly stream: number;
  readonly opcode: number;
  readonly body: Buffer;
}

const HEADER_OFFSETS = {
  version: 0,
  flags: 1,
  stream: 2,
  opcode: 4,
  length: 5,
} as const;

/**
 * Splits replies of at most `maxBytes`. Throws a `PROTOCOL` error for another version or an
 * impossible length.
 */
export function createResponseSplitter(maxBytes: number): FrameSplitter<Frame> {
  return new FrameSplitter({
    headerBytes: HEADER_BYTES,
    getContentBytes: (bytes, at) => readBodyLength(bytes, at, maxBytes),
    read: (bytes, at, end) => ({
      flags: bytes.readUInt8(at + HEADER_OFFSETS.flags),
      stream: bytes.readInt16BE(at + HEADER_OFFSETS.stream),
      opcode: bytes.readUInt8(at + HEADER_OFFSETS.opcode),
      body: bytes.subarray(at + HEADER_BYTES, end),
    }),
  });
}

function readBodyLength(bytes: Buffer, at: number, maxBytes: number): number {
  const version = bytes.readUInt8(at + HEADER_OFFSETS.version);
  if (version !== (VERSION | RESPONSE_BIT)) {
    const spoken =
      (version & RESPONSE_BIT) === 0
        ? 'no answers of CQL'
        : `protocol version ${version & ~RESPONSE_BIT}`;
    throw createProtocolError(`the server speaks ${spoken}; version ${VERSION} is needed`);
  }
  const length = bytes.readInt32BE(at + HEADER_OFFSETS.length);
  if (length >= 0 && length <= maxBytes) return length;
  throw createProtocolError(`a frame of ${length} bytes: more than maxFrameBytes (${maxBytes})`);
}
