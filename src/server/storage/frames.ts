/**
 * Frames: how records lie in a file. A frame is whole or not there: its end is found by checksum and number, never by
 * the size of the file, so that files may be longer than what was written and writes may be torn anywhere.
 *
 * Layout, little-endian: length of the payload (4 bytes), CRC-32 of all that follows it (4), number of the frame in its
 * file (6), low bits of the file's number (2), payload. No frame has an empty payload, so zeros are never a frame.
 */
import { crc32 } from 'node:zlib';

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 16;
const CHECKED_FROM = 8;
const SALT_MASK = 0xffff;

/** What distinguishes a frame from an old one at the same place. */
export interface FrameName {
  /** Number of its file. */
  readonly file: number;
  /** Its place among the frames of the file, from 0. */
  readonly index: number;
}

/** A text as a frame. */
export function encodeFrame(payload: string, name: FrameName): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(payload));
  frame.write(payload, HEADER_BYTES);
  return sealFrame(frame, name);
}

/** Makes a frame of bytes of which the first `HEADER_BYTES` were left free. */
export function sealFrame(bytes: Uint8Array, { file, index }: FrameName): Buffer {
  const frame = asBuffer(bytes);
  frame.writeUInt32LE(frame.length - HEADER_BYTES, 0);
  frame.writeUIntLE(index, 8, 6);
  frame.writeUInt16LE(file & SALT_MASK, 14);
  frame.writeUInt32LE(crc32(frame.subarray(CHECKED_FROM)), 4);
  return frame;
}

/** The payloads of the frames at the beginning of a file, up to the first that is not whole; each a part of `bytes`. */
export function* decodeFrames(bytes: Uint8Array, file: number): Generator<Buffer, void, void> {
  const buffer = asBuffer(bytes);
  let position = 0;
  for (let index = 0; position + HEADER_BYTES <= buffer.length; index += 1) {
    const end = position + HEADER_BYTES + buffer.readUInt32LE(position);
    const isThere = end > position + HEADER_BYTES && end <= buffer.length;
    if (!isThere || !isWhole(buffer.subarray(position, end), { file, index })) return;
    yield buffer.subarray(position + HEADER_BYTES, end);
    position = end;
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isWhole(frame: Buffer, { file, index }: FrameName): boolean {
  return (
    frame.readUIntLE(8, 6) === index &&
    frame.readUInt16LE(14) === (file & SALT_MASK) &&
    frame.readUInt32LE(4) === crc32(frame.subarray(CHECKED_FROM))
  );
}
