/**
 * The value domain in JSON. A value that JSON lacks is written as an object with one key that
 * begins with `$`: `$bytes` (base64), `$bigint` (decimal), `$date` (milliseconds since the epoch),
 * `$undefined`. Keys of the application that begin with `$` get one more. An object's property that
 * is `undefined` is left out, as in JSON; `-0` becomes `0`.
 */
import { MAX_DEPTH, isBytes, isDate, isPlain } from '../../values/value-kinds.ts';
import { PortabilityError } from './codec.ts';
import {
  BIGINT_PATTERN,
  isWellFormed,
  portabilityMessages,
  getClassName,
  decodeTagged,
} from './tagged-values.ts';

/** Replaces values that JSON lacks. Returns `value` itself if there is nothing to replace. */
export function toJsonValue(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      if (isWellFormed(value)) return value;
      throw new PortabilityError(portabilityMessages.loneSurrogate);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new PortabilityError(portabilityMessages.notFinite(value));
    case 'undefined':
      return toTaggedValue('$undefined', true, depth);
    case 'bigint':
      return toTaggedValue('$bigint', checkDigits(value.toString()), depth);
    case 'object':
      return value === null ? null : encodeObject(value, depth);
    case 'function':
    case 'symbol':
      throw new PortabilityError(portabilityMessages.unsendable(typeof value));
  }
}

/**
 * Works like `toJsonValue`, but fails with `INVALID_VALUE` and the path of a value that cannot be
 * sent. The path begins with `field`.
 */
export function toJsonField(value: unknown, field: string, depth = 0): unknown {
  try {
    return toJsonValue(value, depth);
  } catch (error) {
    throw error instanceof PortabilityError ? error.toError([field, ...error.path]) : error;
  }
}

/**
 * The inverse of `toJsonValue` on freshly parsed JSON, which it changes in place. It does not trust
 * its input.
 */
export function fromJsonValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return checkNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw createTooDeepError();
  return Array.isArray(value)
    ? decodeArray(value, depth)
    : decodeObject(value as Record<string, unknown>, depth);
}

/** A value that JSON lacks becomes an object, so it counts as nested like one. */
function toTaggedValue(name: string, content: unknown, depth: number): unknown {
  if (depth >= MAX_DEPTH) throw createTooDeepError();
  return { [name]: content };
}

function encodeObject(value: object, depth: number): unknown {
  if (depth >= MAX_DEPTH) throw createTooDeepError();
  if (Array.isArray(value)) return encodeArray(value, depth);
  if (isBytes(value)) return { $bytes: toBase64(value) };
  if (isDate(value)) return { $date: checkTime(value.getTime()) };
  if (!isPlain(value))
    throw new PortabilityError(portabilityMessages.classInstance(getClassName(value)));
  return encodePlainObject(value, depth);
}

function encodeArray(value: readonly unknown[], depth: number): unknown[] {
  let copy = hasToJson(value) ? Array.from(value) : undefined;
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    const json = callAtKey(i, item, depth, toJsonValue);
    if (json !== item) (copy ??= value.slice())[i] = json;
  }
  return copy ?? (value as unknown[]);
}

function encodePlainObject(value: Record<string, unknown>, depth: number): Record<string, unknown> {
  const keys = Object.keys(value);
  let changed: [string, unknown][] | undefined = hasToJson(value) ? [] : undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key === '__proto__') throw new PortabilityError(portabilityMessages.proto);
    const item = value[key];
    const json = item === undefined ? undefined : callAtKey(key, item, depth, toJsonValue);
    if (!isWellFormed(key)) throw new PortabilityError(portabilityMessages.loneSurrogate);
    const name = key.startsWith('$') ? `$${key}` : key;
    if (changed === undefined && (json !== item || name !== key)) {
      changed = keys.slice(0, i).map((earlier) => [earlier, value[earlier]]);
    }
    changed?.push([name, json]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}

/**
 * Returns whether `JSON.stringify` would replace the value by another one, which was not checked.
 */
function hasToJson(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';
}

function decodeArray(value: unknown[], depth: number): unknown[] {
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    if (canNeedDecoding(item)) value[i] = callAtKey(i, item, depth, fromJsonValue);
  }
  return value;
}

function decodeObject(value: Record<string, unknown>, depth: number): unknown {
  const keys = Object.keys(value);
  let escaped = false;
  for (const key of keys) {
    if (key === '__proto__') throw new PortabilityError(portabilityMessages.proto);
    if (key.startsWith('$')) {
      if (!key.startsWith('$$')) return decodeTaggedObject(value, keys);
      escaped = true;
    }
    const item = value[key];
    if (canNeedDecoding(item)) value[key] = callAtKey(key, item, depth, fromJsonValue);
  }
  return escaped ? unescapeKeys(value, keys) : value;
}

/** Returns whether decoding may change or reject the value. Most values stay as they are. */
function canNeedDecoding(item: unknown): boolean {
  if (typeof item === 'number') return item === 0 || !Number.isFinite(item);
  return typeof item === 'object' && item !== null;
}

function unescapeKeys(
  value: Record<string, unknown>,
  keys: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    keys.map((key) => [key.startsWith('$$') ? key.slice(1) : key, value[key]]),
  );
}

function decodeTaggedObject(value: Record<string, unknown>, keys: readonly string[]): unknown {
  const tag = keys[0];
  if (tag === undefined || keys.length > 1)
    throw new PortabilityError(portabilityMessages.reserved);
  const content = value[tag];
  return tag === '$bytes' && typeof content === 'string'
    ? fromBase64(content)
    : decodeTagged(tag, content);
}

function callAtKey(
  key: PropertyKey,
  item: unknown,
  depth: number,
  lookup: (item: unknown, depth: number) => unknown,
): unknown {
  try {
    return lookup(item, depth + 1);
  } catch (error) {
    if (error instanceof PortabilityError) error.path.unshift(key);
    throw error;
  }
}

function createTooDeepError(): PortabilityError {
  return new PortabilityError(portabilityMessages.tooDeep);
}

/** JSON has no infinities, but parsers read numbers like 1e999 as one. */
function checkNumber(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new PortabilityError(portabilityMessages.notFinite(value));
}

function checkDigits(digits: string): string {
  if (BIGINT_PATTERN.test(digits)) return digits;
  throw new PortabilityError(portabilityMessages.bigintDigits);
}

function checkTime(time: number): number {
  if (Number.isFinite(time)) return time;
  throw new PortabilityError(portabilityMessages.invalidDate);
}

const CHUNK_BYTES = 0x2000;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) {
    // A spread would read the bytes through their iterator, which takes six times as long.
    binary += Reflect.apply(
      String.fromCharCode,
      undefined,
      bytes.subarray(i, i + CHUNK_BYTES),
    ) as string;
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw new PortabilityError('$bytes must hold base64');
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
