/**
 * The value domain in MessagePack, for reading what cannot be trusted: every length is compared with what is left of the
 * frame before anything is made for it, nesting is bounded, and what is outside the domain (extensions, keys that are no
 * strings, `__proto__`, numbers that are not finite) is refused with its path.
 */
import { DEPTH_MAX } from '../../values/kinds.ts';
import { OutsideDomain } from './codec.ts';
import { messages, untag } from './value-domain.ts';

/** The bytes are no MessagePack, or end too early: nothing after them can be read either. */
export class BrokenFrame extends Error {}

/** Short strings are remembered: names of operations and fields come again and again. */
const REMEMBERED_LENGTH_MAX = 32;
const REMEMBERED_MAX = 1 << 11;
const DOLLAR = 0x24;

/** Made when it is first needed: platforms without one can use the other codec. */
let decoder: TextDecoder | undefined;

const NO_BYTES: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

let bytes = NO_BYTES;
let at = 0;
/** Bytes of the remembered strings: to compare those takes less than to look at characters. */
const rememberedBytes = /* @__PURE__ */ new Uint8Array(REMEMBERED_MAX * REMEMBERED_LENGTH_MAX);
const remembered: string[] = Array.from({ length: REMEMBERED_MAX }, () => '');

/** Begins to read. */
export function open(frame: Uint8Array): void {
  bytes = frame;
  at = 0;
}

/** Lets go of the frame. */
export function close(): void {
  bytes = NO_BYTES;
}

/** Of the next `length` bytes; made for numbers that take it, since most frames have none of those. */
function view(length: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + take(length), length);
}

/** Begins at the front again. */
export function rewind(): void {
  at = 0;
}

/** How far has been read, in bytes. */
export function position(): number {
  return at;
}

/** Reads the head of an array; `undefined`, having read nothing, if something else follows. */
export function readArrayHead(): number | undefined {
  const head = byteAt(at);
  if ((head & 0xf0) === 0x90) {
    at++;
    return elements(head & 0x0f, 1);
  }
  if (head !== 0xdc && head !== 0xdd) return undefined;
  at++;
  return elements(head === 0xdc ? uint16() : uint32(), 1);
}

/** Reads a value. Throws `OutsideDomain` with the path from here on, or `BrokenFrame`. */
export function readValue(depth: number): unknown {
  const head = byteAt(at++);
  if (head < 0x80) return head;
  if (head < 0x90) return readMap(elements(head & 0x0f, 2), depth);
  if (head < 0xa0) return readArray(elements(head & 0x0f, 1), depth);
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
      return readBytes(uint8());
    case 0xc5:
      return readBytes(uint16());
    case 0xc6:
      return readBytes(uint32());
    case 0xd9:
      return readString(uint8());
    case 0xda:
      return readString(uint16());
    case 0xdb:
      return readString(uint32());
    case 0xdc:
      return readArray(elements(uint16(), 1), depth);
    case 0xdd:
      return readArray(elements(uint32(), 1), depth);
    case 0xde:
      return readMap(elements(uint16(), 2), depth);
    case 0xdf:
      return readMap(elements(uint32(), 2), depth);
    default:
      return readNumber(head);
  }
}

/** Reads past the value that begins at `from`, whatever it holds. Not recursive: what is nested too deep is passed too. */
export function skipFrom(from: number): void {
  at = from;
  let left = 1;
  while (left-- > 0) left += skipHead(byteAt(at++));
}

/** How many values there are from `from` on, those that are nested in others too: stops counting above `most`. */
export function countValuesFrom(from: number, most: number): number {
  at = from;
  let count = 0;
  for (let left = 1; left > 0 && count <= most; count++) left += skipHead(byteAt(at++)) - 1;
  return count;
}

/** Passes what follows a head, but for the values nested in it, whose number it returns. */
function skipHead(head: number): number {
  if (head < 0x80 || head >= 0xe0) return 0;
  if (head < 0x90) return 2 * elements(head & 0x0f, 2);
  if (head < 0xa0) return elements(head & 0x0f, 1);
  if (head < 0xc0) return pass(head & 0x1f);
  if (head === 0xdc || head === 0xdd) return elements(head === 0xdc ? uint16() : uint32(), 1);
  if (head === 0xde || head === 0xdf) return 2 * elements(head === 0xde ? uint16() : uint32(), 2);
  const fixed = FIXED[head];
  if (fixed !== undefined) return pass(fixed);
  const [lengthBytes, extra] = COUNTED[head] ?? broken(`${head} begins nothing`);
  return pass((lengthBytes === 1 ? uint8() : lengthBytes === 2 ? uint16() : uint32()) + extra);
}

/** Bytes that follow a head, by head. */
const FIXED: Readonly<Record<number, number>> = {
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

/** Bytes of the length that follows a head, and bytes beside those that it counts. */
const COUNTED: Readonly<Record<number, readonly [number, number]>> = {
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
      return finite(view(4).getFloat32(0));
    case 0xcb:
      return finite(view(8).getFloat64(0));
    case 0xcc:
      return uint8();
    case 0xcd:
      return uint16();
    case 0xce:
      return uint32();
    case 0xcf:
      return safe(view(8).getBigUint64(0));
    case 0xd0:
      return view(1).getInt8(0);
    case 0xd1:
      return view(2).getInt16(0);
    case 0xd2:
      return view(4).getInt32(0);
    case 0xd3:
      return safe(view(8).getBigInt64(0));
    case 0xc1:
      return broken('193 begins nothing');
    default:
      throw new OutsideDomain('extension types are refused');
  }
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new OutsideDomain(messages.notFinite(value));
}

function safe(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new OutsideDomain('an integer beyond 2^53 is refused; write {"$bigint": "…"}');
}

function readArray(length: number, depth: number): unknown[] {
  if (depth >= DEPTH_MAX) throw new OutsideDomain(messages.tooDeep);
  const items: unknown[] = [];
  try {
    while (items.length < length) items.push(readValue(depth + 1));
  } catch (error) {
    throw locate(error, items.length);
  }
  return items;
}

function readMap(length: number, depth: number): unknown {
  if (depth >= DEPTH_MAX) throw new OutsideDomain(messages.tooDeep);
  const map: Record<string, unknown> = {};
  for (let i = 0; i < length; i++) {
    const key = readKey();
    const item = readItem(key, depth);
    if (key.charCodeAt(0) !== DOLLAR) map[key] = item;
    else if (key.charCodeAt(1) === DOLLAR) map[key.slice(1)] = item;
    else if (length === 1) return untag(key, item);
    else throw new OutsideDomain(messages.reserved);
  }
  return map;
}

function readItem(key: string, depth: number): unknown {
  try {
    return readValue(depth + 1);
  } catch (error) {
    throw locate(error, key);
  }
}

/** Adds a key to the path of what is wrong with a part of a value. */
function locate(error: unknown, key: PropertyKey): unknown {
  if (error instanceof OutsideDomain) error.path.unshift(key);
  return error;
}

function readKey(): string {
  const head = byteAt(at);
  if ((head & 0xe0) !== 0xa0 && head !== 0xd9 && head !== 0xda && head !== 0xdb) {
    throw new OutsideDomain('a key must be a string');
  }
  const key = readValue(0) as string;
  if (key === '__proto__') throw new OutsideDomain(messages.proto);
  return key;
}

function readBytes(length: number): Uint8Array {
  const from = take(length);
  // A copy: the frame's memory belongs to the socket. Of a `Buffer` a part is one too, and values hold plain bytes.
  return new Uint8Array(bytes.subarray(from, from + length));
}

function readString(length: number): string {
  const from = take(length);
  return length <= REMEMBERED_LENGTH_MAX ? shortString(from, length) : longString(from, length);
}

function shortString(from: number, length: number): string {
  if (length === 0) return '';
  const source = bytes;
  const end = from + length;
  // By its end above all: names that are numbered differ there.
  const slot =
    ((source[end - 1] as number) + 13 * (source[end - 2] as number) + 169 * (source[end - 3] ?? 0) + 61 * length) %
    REMEMBERED_MAX;
  const known = remembered[slot] as string;
  const target = rememberedBytes;
  const to = slot * REMEMBERED_LENGTH_MAX;
  if (known.length === length) {
    let i = 0;
    while (i < length && target[to + i] === source[from + i]) i++;
    if (i === length) return known;
  }
  for (let i = from; i < end; i++) if ((source[i] as number) >= 0x80) return longString(from, length);
  const text = asciiText(from, end);
  remembered[slot] = text;
  for (let i = 0; i < length; i++) target[to + i] = source[from + i] as number;
  return text;
}

/** Four characters at a time: each step makes a string. */
function asciiText(from: number, end: number): string {
  const code = bytes as unknown as readonly number[];
  let text = '';
  let i = from;
  while (i + 4 <= end) {
    text += String.fromCharCode(code[i++] as number, code[i++] as number, code[i++] as number, code[i++] as number);
  }
  while (i < end) text += String.fromCharCode(code[i++] as number);
  return text;
}

function longString(from: number, length: number): string {
  try {
    decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(bytes.subarray(from, from + length));
  } catch {
    throw new OutsideDomain('a string must be UTF-8');
  }
}

/** Checks that so many elements, each of so many values, can still follow: the frame bounds what is made for them. */
function elements(count: number, valuesEach: number): number {
  if (count * valuesEach > bytes.length - at) broken('the frame ends too early');
  return count;
}

function pass(length: number): 0 {
  take(length);
  return 0;
}

/** Moves past `length` bytes and returns where they begin. */
function take(length: number): number {
  const from = at;
  at += length;
  if (at > bytes.length) broken('the frame ends too early');
  return from;
}

function byteAt(index: number): number {
  return bytes[index] ?? broken('the frame ends too early');
}

function uint8(): number {
  return byteAt(at++);
}

function uint16(): number {
  return 0x100 * uint8() + uint8();
}

function uint32(): number {
  return 0x10000 * uint16() + uint16();
}

function broken(message: string): never {
  throw new BrokenFrame(message);
}
