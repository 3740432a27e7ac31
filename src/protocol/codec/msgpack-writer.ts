/**
 * Writes the value domain in MessagePack. It uses only types that every implementation has: nil,
 * booleans, numbers, strings, bin, arrays and maps. bigint, Date and undefined are written as in
 * JSON, as maps with one key that begins with `$` (see `json-values.ts`). Bytes are `bin`.
 *
 * All values go into one block of memory, one after the other, and are returned as views of it. So
 * messages that are written in one tick are side by side, and one copy puts them into a frame. A
 * value larger than a block gets its own memory: a small value never retains more than its block.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import { MAX_DEPTH, isBytes, isDate, isPlain } from '../../values/value-kinds.ts';
import { PortabilityError, type Span } from './codec.ts';
import {
  BIGINT_PATTERN,
  isWellFormed,
  portabilityMessages,
  getClassName,
} from './tagged-values.ts';

const BLOCK_BYTES = 1 << 16;
/**
 * A shorter string is copied character by character, which is faster than a call of the platform's
 * encoder.
 */
const MAX_SHORT_STRING_LENGTH = 48;

/** Created when it is first needed. Platforms without one can use the other codec. */
let encoder: TextEncoder | undefined;

const NO_BLOCK: Uint8Array<ArrayBuffer> = /* @__PURE__ */ new Uint8Array(0);

let block = NO_BLOCK;
let view: DataView = new DataView(block.buffer);
let offset = 0;
/** The position where the value being written begins. */
let messageStart = 0;

/** True between `beginWriting` and the call that ends it. */
let isWriting = false;

/**
 * Begins to write. A call of `takeWritten`, `takeSpan` or `rewindWriter` must follow. `bytes` is
 * the maximum size if it is known.
 */
export function beginWriting(bytes = 0): void {
  // Reading a property can run code of the application. That code must not write into the value
  // that is being written.
  if (isWriting)
    throw new CorrectableError('INVALID_VALUE', 'a getter of a value may not use the store');
  isWriting = true;
  messageStart = offset;
  if (bytes > BLOCK_BYTES) startBlock(bytes);
}

/** Returns the bytes that were written since `beginWriting`. They never change again. */
export function takeWritten(): Uint8Array<ArrayBuffer> {
  isWriting = false;
  return block.length > BLOCK_BYTES
    ? takeLargeBlock()
    : new Uint8Array(block.buffer, messageStart, offset - messageStart);
}

/** Returns the place of these bytes. */
export function takeSpan(): Span {
  isWriting = false;
  if (block.length <= BLOCK_BYTES)
    return { block, start: messageStart, length: offset - messageStart };
  const large = takeLargeBlock();
  return { block: large, start: 0, length: large.length };
}

/** Drops the bytes that were written since `beginWriting`. */
export function rewindWriter(): void {
  isWriting = false;
  offset = messageStart;
  if (block.length > BLOCK_BYTES) takeLargeBlock();
}

/** Returns the number of bytes that were written since `beginWriting`. */
export function getSize(): number {
  return offset - messageStart;
}

/** Reserves room for a head whose content is known only after its value. */
export function reserveHead(bytes: number): void {
  reserve(bytes);
  offset += bytes;
}

/** Makes room. If the block is full, moves the bytes since `beginWriting` to a new block. */
function reserve(bytes: number): void {
  if (offset + bytes <= block.length) return;
  const needed = offset - messageStart + bytes;
  // Doubles the room after a large part, so that a series of large parts is not moved each time.
  startBlock(
    needed <= BLOCK_BYTES
      ? BLOCK_BYTES
      : Math.max(needed + BLOCK_BYTES, 2 * (offset - messageStart)),
  );
}

function startBlock(bytes: number): void {
  const unfinished = block.subarray(messageStart, offset);
  block = new Uint8Array(bytes);
  view = new DataView(block.buffer);
  block.set(unfinished);
  messageStart = 0;
  offset = unfinished.length;
}

/** Returns the written bytes in memory of their size. Nothing else is written beside them. */
function takeLargeBlock(): Uint8Array<ArrayBuffer> {
  const large = offset - messageStart === block.length ? block : block.slice(messageStart, offset);
  block = NO_BLOCK;
  messageStart = offset = 0;
  return large;
}

/** Copies bytes that are encoded already. */
export function writeEncoded(bytes: Uint8Array): void {
  reserve(bytes.length);
  block.set(bytes, offset);
  offset += bytes.length;
}

/**
 * Copies a span of encoded bytes. Short spans are copied byte by byte, because a view of them takes
 * longer.
 */
export function writeSpan(from: Uint8Array, first: number, end: number): void {
  if (end - first > MAX_SHORT_STRING_LENGTH) return writeEncoded(from.subarray(first, end));
  reserve(end - first);
  for (let i = first; i < end; i++) block[offset++] = from[i] as number;
  return undefined;
}

export function getArrayHeadBytes(length: number): number {
  return length < 16 ? 1 : length < 0x10000 ? 3 : 5;
}

/** Writes the head of an array of `length` elements, which must follow. */
export function writeArrayHead(length: number): void {
  reserve(getArrayHeadBytes(length));
  if (length < 16) block[offset++] = 0x90 | length;
  else writeLength(length, 0xdc, 0xdd);
}

/** Writes a value. Throws `PortabilityError`. */
export function writeValue(value: unknown, depth: number): void {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      reserve(1);
      block[offset++] = value ? 0xc3 : 0xc2;
      return undefined;
    case 'object':
      return value === null ? writeNil() : writeObject(value, depth);
    case 'undefined':
      writeTag('$undefined', depth);
      block[offset++] = 0xc3;
      return undefined;
    case 'bigint':
      return writeBigint(value, depth);
    case 'function':
    case 'symbol':
      throw new PortabilityError(portabilityMessages.unsendable(typeof value));
  }
}

function writeNil(): void {
  reserve(1);
  block[offset++] = 0xc0;
}

/** Writes a map of one entry, whose value must follow. Reserves one byte of that value. */
function writeTag(tag: string, depth: number): void {
  if (depth >= MAX_DEPTH) throw new PortabilityError(portabilityMessages.tooDeep);
  reserve(1);
  block[offset++] = 0x81;
  writeString(tag);
  reserve(1);
}

function writeNumber(value: number): void {
  reserve(9);
  if (Number.isInteger(value) && value >= -0x8000_0000 && value <= 0xffff_ffff)
    return writeInteger(value);
  if (!Number.isFinite(value)) throw new PortabilityError(portabilityMessages.notFinite(value));
  block[offset++] = 0xcb;
  view.setFloat64(offset, value);
  offset += 8;
}

function writeInteger(value: number): void {
  if (value >= 0) {
    if (value < 0x80) block[offset++] = value;
    else if (value < 0x100) {
      block[offset++] = 0xcc;
      block[offset++] = value;
    } else if (value < 0x10000) {
      block[offset++] = 0xcd;
      view.setUint16(offset, value);
      offset += 2;
    } else {
      block[offset++] = 0xce;
      view.setUint32(offset, value);
      offset += 4;
    }
  } else if (value >= -0x20) block[offset++] = value + 0x100;
  else {
    block[offset++] = 0xd2;
    view.setInt32(offset, value);
    offset += 4;
  }
}

function writeString(text: string): void {
  const { length } = text;
  if (length > MAX_SHORT_STRING_LENGTH) return writeLongString(text);
  reserve(length + 2);
  // Local variables, since engines cannot keep variables of a module in registers.
  const target = block;
  let to = offset;
  if (length < 32) target[to++] = 0xa0 | length;
  else {
    target[to++] = 0xd9;
    target[to++] = length;
  }
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return writeLongString(text);
    target[to++] = unit;
  }
  offset = to;
}

/** The maximum length of the text selects the head, so equal texts have equal encodings. */
function writeLongString(text: string): void {
  if (!isWellFormed(text)) throw new PortabilityError(portabilityMessages.loneSurrogate);
  const maxBytes = 3 * text.length;
  if (maxBytes >= BLOCK_BYTES) return writeLargeString(text);
  reserve(maxBytes + 3);
  const headBytes = maxBytes < 0x100 ? 2 : 3;
  encoder ??= new TextEncoder();
  const { written: bytes } = encoder.encodeInto(text, block.subarray(offset + headBytes));
  if (headBytes === 2) {
    block[offset] = 0xd9;
    block[offset + 1] = bytes;
  } else {
    block[offset] = 0xda;
    view.setUint16(offset + 1, bytes);
  }
  offset += headBytes + bytes;
}

/**
 * Encoded into other memory. Room for the maximum length would be three times as much as most texts
 * need.
 */
function writeLargeString(text: string): void {
  encoder ??= new TextEncoder();
  const bytes = encoder.encode(text);
  reserve(bytes.length + 5);
  block[offset] = 0xdb;
  view.setUint32(offset + 1, bytes.length);
  block.set(bytes, offset + 5);
  offset += bytes.length + 5;
}

function writeBigint(value: bigint, depth: number): void {
  const digits = value.toString();
  if (!BIGINT_PATTERN.test(digits)) throw new PortabilityError(portabilityMessages.bigintDigits);
  writeTag('$bigint', depth);
  writeString(digits);
}

function writeObject(value: object, depth: number): void {
  if (depth >= MAX_DEPTH) throw new PortabilityError(portabilityMessages.tooDeep);
  if (Array.isArray(value)) return writeArray(value, depth);
  if (isPlain(value)) return writeMap(value, depth);
  if (isBytes(value)) return writeBytes(value);
  if (isDate(value)) {
    if (!Number.isFinite(value.getTime()))
      throw new PortabilityError(portabilityMessages.invalidDate);
    writeTag('$date', depth);
    return writeNumber(value.getTime());
  }
  throw new PortabilityError(portabilityMessages.classInstance(getClassName(value)));
}

function writeArray(value: readonly unknown[], depth: number): void {
  const { length } = value;
  writeArrayHead(length);
  for (let i = 0; i < length; i++) writeAt(i, value[i], depth);
}

function writeMap(value: Record<string, unknown>, depth: number): void {
  const keys = Object.keys(value);
  reserve(5);
  // The position of the head, from `start` on. The block may move before the entries have been
  // counted.
  const head = offset - messageStart;
  if (keys.length < 16) offset++;
  else writeLength(keys.length, 0xde, 0xdf);
  let count = 0;
  for (const key of keys) {
    // Read once, because a getter may return another value the next time.
    const item = value[key];
    if (item === undefined) continue;
    count++;
    if (key === '__proto__') throw new PortabilityError(portabilityMessages.proto);
    writeString(key.charCodeAt(0) === 0x24 ? `$${key}` : key);
    writeAt(key, item, depth);
  }
  if (keys.length < 16) block[messageStart + head] = 0x80 | count;
  else if (keys.length < 0x10000) view.setUint16(messageStart + head + 1, count);
  else view.setUint32(messageStart + head + 1, count);
}

/** Writes a part of a value. On failure, adds its key to the path. */
function writeAt(key: PropertyKey, item: unknown, depth: number): void {
  try {
    writeValue(item, depth + 1);
  } catch (error) {
    if (error instanceof PortabilityError) error.path.unshift(key);
    throw error;
  }
}

function writeBytes(bytes: Uint8Array): void {
  const { length } = bytes;
  reserve(length + 5);
  if (length < 0x100) {
    block[offset++] = 0xc4;
    block[offset++] = length;
  } else writeLength(length, 0xc5, 0xc6);
  block.set(bytes, offset);
  offset += length;
}

function writeLength(length: number, head16: number, head32: number): void {
  if (length < 0x10000) {
    block[offset++] = head16;
    view.setUint16(offset, length);
    offset += 2;
  } else {
    block[offset++] = head32;
    view.setUint32(offset, length);
    offset += 4;
  }
}
