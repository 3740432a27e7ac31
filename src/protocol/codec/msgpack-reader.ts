/**
 * Reads the value domain in MessagePack from untrusted bytes. Every length is compared with the
 * rest of the frame before memory is reserved for it. Nesting is bounded. Values outside the domain
 * (extensions, keys that are no strings, `__proto__`, numbers that are not finite) are rejected
 * with their path.
 */
import { MAX_DEPTH } from '../../values/value-kinds.ts';
import { PortabilityError } from './codec.ts';
import { portabilityMessages, decodeTagged } from './tagged-values.ts';

/** The bytes are no MessagePack, or end too early. Nothing after them can be read either. */
export class MalformedFrameError extends Error {}

/** Short strings are cached, because names of operations and fields occur again and again. */
const MAX_CACHED_STRING_LENGTH = 32;
const MAX_CACHED_STRINGS = 1 << 11;
const DOLLAR = 0x24;

/** Created when it is first needed. Platforms without one can use the other codec. */
let decoder: TextDecoder | undefined;

const NO_BYTES: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

let frameBytes = NO_BYTES;
let offset = 0;
/** The bytes of the cached strings. To compare bytes is faster than to compare characters. */
const cachedStringBytes = /* @__PURE__ */ new Uint8Array(
  MAX_CACHED_STRINGS * MAX_CACHED_STRING_LENGTH,
);
const cachedStrings: string[] = Array.from({ length: MAX_CACHED_STRINGS }, () => '');

export function openFrame(frame: Uint8Array): void {
  frameBytes = frame;
  offset = 0;
}

export function closeFrame(): void {
  frameBytes = NO_BYTES;
}

/** Returns a view of the next `length` bytes, for numbers that need one. Most frames have none. */
function getDataView(length: number): DataView {
  return new DataView(frameBytes.buffer, frameBytes.byteOffset + takeBytes(length), length);
}

export function rewindReader(): void {
  offset = 0;
}

export function getPosition(): number {
  return offset;
}

/** Reads the head of an array. Returns `undefined`, and reads nothing, if another value follows. */
export function readArrayHead(): number | undefined {
  const head = getByteAt(offset);
  if ((head & 0xf0) === 0x90) {
    offset++;
    return checkElementCount(head & 0x0f, 1);
  }
  if (head !== 0xdc && head !== 0xdd) return undefined;
  offset++;
  return checkElementCount(head === 0xdc ? readUint16() : readUint32(), 1);
}

/**
 * Reads a value. Throws `PortabilityError` with the path from here on, or `MalformedFrameError`.
 */
export function readValue(depth: number): unknown {
  const head = getByteAt(offset++);
  if (head < 0x80) return head;
  if (head < 0x90) return readMap(checkElementCount(head & 0x0f, 2), depth);
  if (head < 0xa0) return readArray(checkElementCount(head & 0x0f, 1), depth);
  if (head < 0xc0) return readString(head & 0x1f);
  if (head >= 0xe0) return head - 0x100;
  switch (head) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return readBytes(readUint8());
    case 0xc5:
      return readBytes(readUint16());
    case 0xc6:
      return readBytes(readUint32());
    case 0xd9:
      return readString(readUint8());
    case 0xda:
      return readString(readUint16());
    case 0xdb:
      return readString(readUint32());
    case 0xdc:
      return readArray(checkElementCount(readUint16(), 1), depth);
    case 0xdd:
      return readArray(checkElementCount(readUint32(), 1), depth);
    case 0xde:
      return readMap(checkElementCount(readUint16(), 2), depth);
    case 0xdf:
      return readMap(checkElementCount(readUint32(), 2), depth);
    default:
      return readNumber(head);
  }
}

/**
 * Reads past the value that begins at `from`, whatever it holds. It is not recursive, so it also
 * skips values that are nested too deeply.
 */
export function skipFrom(from: number): void {
  offset = from;
  let left = 1;
  while (left-- > 0) left += skipHead(getByteAt(offset++));
}

/**
 * Returns the number of values from `from` on, including nested ones. Stops counting above `most`.
 */
export function countValuesFrom(from: number, most: number): number {
  offset = from;
  let count = 0;
  for (let left = 1; left > 0 && count <= most; count++) left += skipHead(getByteAt(offset++)) - 1;
  return count;
}

/** Skips the bytes after a head, except for the nested values. Returns the number of these. */
function skipHead(head: number): number {
  if (head < 0x80 || head >= 0xe0) return 0;
  if (head < 0x90) return 2 * checkElementCount(head & 0x0f, 2);
  if (head < 0xa0) return checkElementCount(head & 0x0f, 1);
  if (head < 0xc0) return skipBytes(head & 0x1f);
  if (head === 0xdc || head === 0xdd)
    return checkElementCount(head === 0xdc ? readUint16() : readUint32(), 1);
  if (head === 0xde || head === 0xdf)
    return 2 * checkElementCount(head === 0xde ? readUint16() : readUint32(), 2);
  const fixed = FIXED_LENGTHS[head];
  if (fixed !== undefined) return skipBytes(fixed);
  const [lengthBytes, extra] = COUNTED_LENGTHS[head] ?? throwMalformed(`${head} begins nothing`);
  return skipBytes(
    (lengthBytes === 1 ? readUint8() : lengthBytes === 2 ? readUint16() : readUint32()) + extra,
  );
}

/** The number of bytes that follow a head, by head. */
const FIXED_LENGTHS: Readonly<Record<number, number>> = {
  0xc0: 0,
  0xc2: 0,
  0xc3: 0,
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
  0xd4: 2,
  0xd5: 3,
  0xd6: 5,
  0xd7: 9,
  0xd8: 17,
};

/**
 * The number of bytes of the length that follows a head, and of bytes that this length does not
 * count.
 */
const COUNTED_LENGTHS: Readonly<Record<number, readonly [number, number]>> = {
  0xc4: [1, 0],
  0xc5: [2, 0],
  0xc6: [4, 0],
  0xc7: [1, 1],
  0xc8: [2, 1],
  0xc9: [4, 1],
  0xd9: [1, 0],
  0xda: [2, 0],
  0xdb: [4, 0],
};

function readNumber(head: number): number {
  switch (head) {
    case 0xca:
      return checkFinite(getDataView(4).getFloat32(0));
    case 0xcb:
      return checkFinite(getDataView(8).getFloat64(0));
    case 0xcc:
      return readUint8();
    case 0xcd:
      return readUint16();
    case 0xce:
      return readUint32();
    case 0xcf:
      return toSafeNumber(getDataView(8).getBigUint64(0));
    case 0xd0:
      return getDataView(1).getInt8(0);
    case 0xd1:
      return getDataView(2).getInt16(0);
    case 0xd2:
      return getDataView(4).getInt32(0);
    case 0xd3:
      return toSafeNumber(getDataView(8).getBigInt64(0));
    case 0xc1:
      return throwMalformed('193 begins nothing');
    default:
      throw new PortabilityError('extension types are refused');
  }
}

function checkFinite(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new PortabilityError(portabilityMessages.notFinite(value));
}

function toSafeNumber(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new PortabilityError('an integer beyond 2^53 is refused; write {"$bigint": "…"}');
}

function readArray(length: number, depth: number): unknown[] {
  if (depth >= MAX_DEPTH) throw new PortabilityError(portabilityMessages.tooDeep);
  const items: unknown[] = [];
  try {
    while (items.length < length) items.push(readValue(depth + 1));
  } catch (error) {
    throw addPath(error, items.length);
  }
  return items;
}

function readMap(length: number, depth: number): unknown {
  if (depth >= MAX_DEPTH) throw new PortabilityError(portabilityMessages.tooDeep);
  const map: Record<string, unknown> = {};
  for (let i = 0; i < length; i++) {
    const key = readKey();
    const item = readItem(key, depth);
    if (key.charCodeAt(0) !== DOLLAR) map[key] = item;
    else if (key.charCodeAt(1) === DOLLAR) map[key.slice(1)] = item;
    else if (length === 1) return decodeTagged(key, item);
    else throw new PortabilityError(portabilityMessages.reserved);
  }
  return map;
}

function readItem(key: string, depth: number): unknown {
  try {
    return readValue(depth + 1);
  } catch (error) {
    throw addPath(error, key);
  }
}

/** Adds a key to the path of an error in a part of a value. */
function addPath(error: unknown, key: PropertyKey): unknown {
  if (error instanceof PortabilityError) error.path.unshift(key);
  return error;
}

function readKey(): string {
  const head = getByteAt(offset);
  if ((head & 0xe0) !== 0xa0 && head !== 0xd9 && head !== 0xda && head !== 0xdb) {
    throw new PortabilityError('a key must be a string');
  }
  const key = readValue(0) as string;
  if (key === '__proto__') throw new PortabilityError(portabilityMessages.proto);
  return key;
}

function readBytes(length: number): Uint8Array {
  const from = takeBytes(length);
  // A copy, because the frame's memory belongs to the socket. A slice of a `Buffer` would be a
  // `Buffer` too, but values hold plain bytes.
  return new Uint8Array(frameBytes.subarray(from, from + length));
}

function readString(length: number): string {
  const from = takeBytes(length);
  return length <= MAX_CACHED_STRING_LENGTH
    ? readShortString(from, length)
    : readLongString(from, length);
}

function readShortString(from: number, length: number): string {
  if (length === 0) return '';
  const source = frameBytes;
  const end = from + length;
  // The slot depends mainly on the end of the text, because numbered names differ there.
  const slot =
    ((source[end - 1] as number) +
      13 * (source[end - 2] as number) +
      169 * (source[end - 3] ?? 0) +
      61 * length) %
    MAX_CACHED_STRINGS;
  const known = cachedStrings[slot] as string;
  const target = cachedStringBytes;
  const to = slot * MAX_CACHED_STRING_LENGTH;
  if (known.length === length) {
    let i = 0;
    while (i < length && target[to + i] === source[from + i]) i++;
    if (i === length) return known;
  }
  for (let i = from; i < end; i++)
    if ((source[i] as number) >= 0x80) return readLongString(from, length);
  const text = readAsciiText(from, end);
  cachedStrings[slot] = text;
  for (let i = 0; i < length; i++) target[to + i] = source[from + i] as number;
  return text;
}

/** Reads four characters at a time, because each step creates a string. */
function readAsciiText(from: number, end: number): string {
  const code = frameBytes as unknown as readonly number[];
  let text = '';
  let i = from;
  while (i + 4 <= end) {
    text += String.fromCharCode(
      code[i++] as number,
      code[i++] as number,
      code[i++] as number,
      code[i++] as number,
    );
  }
  while (i < end) text += String.fromCharCode(code[i++] as number);
  return text;
}

function readLongString(from: number, length: number): string {
  try {
    decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(frameBytes.subarray(from, from + length));
  } catch {
    throw new PortabilityError('a string must be UTF-8');
  }
}

/**
 * Checks that this many elements, each of `valuesEach` values, can still follow. So the frame
 * bounds the memory that is reserved for them.
 */
function checkElementCount(count: number, valuesEach: number): number {
  if (count * valuesEach > frameBytes.length - offset) throwMalformed('the frame ends too early');
  return count;
}

function skipBytes(length: number): 0 {
  takeBytes(length);
  return 0;
}

/** Moves past `length` bytes and returns the position where they begin. */
function takeBytes(length: number): number {
  const from = offset;
  offset += length;
  if (offset > frameBytes.length) throwMalformed('the frame ends too early');
  return from;
}

function getByteAt(index: number): number {
  return frameBytes[index] ?? throwMalformed('the frame ends too early');
}

function readUint8(): number {
  return getByteAt(offset++);
}

function readUint16(): number {
  return 0x100 * readUint8() + readUint8();
}

function readUint32(): number {
  return 0x10000 * readUint16() + readUint16();
}

function throwMalformed(message: string): never {
  throw new MalformedFrameError(message);
}
