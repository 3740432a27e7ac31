/**
 * Frames: how records lie in a file. A frame is whole or not there: its end is found by checksum
 * and number, never by the size of the file, so that files may be longer than what was written and
 * writes may be torn anywhere.
 *
 * Layout, little-endian: length of the payload (4 bytes), CRC-32 of all that follows it (4), number
 * of the frame in its file (6), low bits of the file's number (2), payload. No frame has an empty
 * payload, so zeros are never a frame. The highest bit of the number in the file says that the
 * frame is
 * *settled*: all before it were on the disk when it was given to it. So what is
 * not whole before a settled frame was not torn by a crash, but damaged later.
 */
import { crc32 } from 'node:zlib';

export const HEADER_BYTES = 16;
const CHECKSUM_START = 8;
const SALT_OFFSET = 14;
const SALT_MASK = 0xffff;
const SETTLED_FLAG = 2 ** 47;

/** Distinguishes a frame from an old one at the same position. */
export interface FrameName {
  /** The number of its file. */
  readonly file: number;
  /** Its index among the frames of the file, from 0. */
  readonly index: number;
  /** Whether all frames before it were on the disk when it was written. */
  readonly isSettled?: boolean;
}

/** A whole frame after one that is not. */
export interface LaterFrame {
  readonly index: number;
  readonly isSettled: boolean;
  readonly payload: Buffer;
}

export function encodeFrame(payload: string, name: FrameName): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(payload));
  frame.write(payload, HEADER_BYTES);
  return sealFrame(frame, name);
}

/** Completes a frame in bytes whose first `HEADER_BYTES` were left free. */
export function sealFrame(
  bytes: Uint8Array,
  { file, index, isSettled = false }: FrameName,
): Buffer {
  const frame = toBuffer(bytes);
  frame.writeUInt32LE(frame.length - HEADER_BYTES, 0);
  frame.writeUIntLE(isSettled ? index + SETTLED_FLAG : index, 8, 6);
  frame.writeUInt16LE(file & SALT_MASK, 14);
  frame.writeUInt32LE(crc32(frame.subarray(CHECKSUM_START)), 4);
  return frame;
}

/** Returns the length of a frame by its first `HEADER_BYTES`. */
export function getFrameLength(bytes: Uint8Array): number {
  return HEADER_BYTES + toBuffer(bytes).readUInt32LE(0);
}

/** Returns the payload of a frame, if the frame is whole. */
export function decodeFrame(bytes: Uint8Array, name: FrameName): Buffer | undefined {
  const frame = toBuffer(bytes);
  const isThere = frame.length > HEADER_BYTES && frame.length === getFrameLength(frame);
  return isThere && isWhole(frame, name) ? frame.subarray(HEADER_BYTES) : undefined;
}

/**
 * Yields the payloads of the frames at the beginning of a file, up to the first that is not whole.
 * Each is a part of `bytes`.
 */
export function* decodeFrames(bytes: Uint8Array, file: number): Generator<Buffer, void, void> {
  const buffer = toBuffer(bytes);
  let position = 0;
  for (let index = 0; position + HEADER_BYTES <= buffer.length; index += 1) {
    const end = position + HEADER_BYTES + buffer.readUInt32LE(position);
    const isThere = end > position + HEADER_BYTES && end <= buffer.length;
    if (!isThere || !isWhole(buffer.subarray(position, end), { file, index })) return;
    yield buffer.subarray(position + HEADER_BYTES, end);
    position = end;
  }
}

/** Yields the whole frames with numbers from `index` on, anywhere at or after `position`. */
export function* findFrames(
  bytes: Uint8Array,
  {
    file,
    index,
    position,
  }: {
    readonly file: number;
    readonly index: number;
    readonly position: number;
  },
): Generator<LaterFrame, void, void> {
  const buffer = toBuffer(bytes);
  const salt = Buffer.of(file & 0xff, (file >> 8) & 0xff);
  let from = index;
  for (let at = position; ;) {
    const saltAt = buffer.indexOf(salt, at + SALT_OFFSET);
    if (saltAt < 0) return;
    at = saltAt - SALT_OFFSET;
    const end = at + HEADER_BYTES + buffer.readUInt32LE(at);
    const found = buffer.readUIntLE(at + 8, 6) % SETTLED_FLAG;
    const mayBe =
      end > at + HEADER_BYTES &&
      end <= buffer.length &&
      found >= from &&
      found < from + buffer.length;
    if (mayBe && isWhole(buffer.subarray(at, end), { file, index: found })) {
      const isSettled = buffer.readUIntLE(at + 8, 6) >= SETTLED_FLAG;
      yield {
        index: found,
        isSettled,
        payload: buffer.subarray(at + HEADER_BYTES, end),
      };
      from = found + 1;
      at = end;
    } else at += 1;
  }
}

export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isWhole(frame: Buffer, { file, index }: FrameName): boolean {
  return (
    frame.readUIntLE(8, 6) % SETTLED_FLAG === index &&
    frame.readUInt16LE(14) === (file & SALT_MASK) &&
    frame.readUInt32LE(4) === crc32(frame.subarray(CHECKSUM_START))
  );
}
