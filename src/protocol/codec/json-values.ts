/**
 * The value domain in JSON. What JSON lacks is written as an object with one key that begins with `$`: `$bytes`
 * (base64), `$bigint` (decimal), `$date` (milliseconds since the epoch), `$undefined`. Keys of the application that
 * begin with `$` get one more. An object's property that is `undefined` is left out, as in JSON; `-0` becomes `0`.
 */
import { DEPTH_MAX, isBytes, isDate, isPlain } from '../../values/kinds.ts';
import { OutsideDomain } from './codec.ts';
import { BIGINT_PATTERN, isWellFormed, messages, nameOfClass, untag } from './value-domain.ts';

/** Replaces what JSON cannot say. Returns `value` itself where there is nothing to replace. */
export function toJsonValue(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      if (isWellFormed(value)) return value;
      throw new OutsideDomain(messages.loneSurrogate);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new OutsideDomain(messages.notFinite(value));
    case 'undefined':
      return tag('$undefined', true, depth);
    case 'bigint':
      return tag('$bigint', checkedDigits(value.toString()), depth);
    case 'object':
      return value === null ? null : objectToJson(value, depth);
    case 'function':
    case 'symbol':
      throw new OutsideDomain(messages.unsendable(typeof value));
  }
}

/** The inverse of `toJsonValue` on freshly parsed JSON, which it changes in place. Trusts nothing. */
export function fromJsonValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return checkedNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) throw tooDeep();
  return Array.isArray(value) ? arrayFromJson(value, depth) : objectFromJson(value as Record<string, unknown>, depth);
}

/** What JSON lacks is an object there, and nested like one. */
function tag(name: string, content: unknown, depth: number): unknown {
  if (depth >= DEPTH_MAX) throw tooDeep();
  return { [name]: content };
}

function objectToJson(value: object, depth: number): unknown {
  if (depth >= DEPTH_MAX) throw tooDeep();
  if (Array.isArray(value)) return arrayToJson(value, depth);
  if (isBytes(value)) return { $bytes: toBase64(value) };
  if (isDate(value)) return { $date: checkedTime(value.getTime()) };
  if (!isPlain(value)) throw new OutsideDomain(messages.classInstance(nameOfClass(value)));
  return plainToJson(value, depth);
}

function arrayToJson(value: readonly unknown[], depth: number): unknown[] {
  let copy = rewritesItself(value) ? Array.from(value) : undefined;
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    const json = atKey(i, item, depth, toJsonValue);
    if (json !== item) (copy ??= value.slice())[i] = json;
  }
  return copy ?? (value as unknown[]);
}

function plainToJson(value: Record<string, unknown>, depth: number): Record<string, unknown> {
  const keys = Object.keys(value);
  let changed: [string, unknown][] | undefined = rewritesItself(value) ? [] : undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key === '__proto__') throw new OutsideDomain(messages.proto);
    const item = value[key];
    const json = item === undefined ? undefined : atKey(key, item, depth, toJsonValue);
    if (!isWellFormed(key)) throw new OutsideDomain(messages.loneSurrogate);
    const name = key.startsWith('$') ? `$${key}` : key;
    if (changed === undefined && (json !== item || name !== key)) {
      changed = keys.slice(0, i).map((earlier) => [earlier, value[earlier]]);
    }
    changed?.push([name, json]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}

/** Whether `JSON.stringify` would write something else in its place, that nobody has looked at. */
function rewritesItself(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';
}

function arrayFromJson(value: unknown[], depth: number): unknown[] {
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    if (mayBecomeOther(item)) value[i] = atKey(i, item, depth, fromJsonValue);
  }
  return value;
}

function objectFromJson(value: Record<string, unknown>, depth: number): unknown {
  const keys = Object.keys(value);
  let escaped = false;
  for (const key of keys) {
    if (key === '__proto__') throw new OutsideDomain(messages.proto);
    if (key.startsWith('$')) {
      if (!key.startsWith('$$')) return tagged(value, keys);
      escaped = true;
    }
    const item = value[key];
    if (mayBecomeOther(item)) value[key] = atKey(key, item, depth, fromJsonValue);
  }
  return escaped ? unescapeKeys(value, keys) : value;
}

/** Whether reading may make something else of what JSON says, or refuse it. Most values are what they seem. */
function mayBecomeOther(item: unknown): boolean {
  if (typeof item === 'number') return item === 0 || !Number.isFinite(item);
  return typeof item === 'object' && item !== null;
}

function unescapeKeys(value: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key.startsWith('$$') ? key.slice(1) : key, value[key]]));
}

function tagged(value: Record<string, unknown>, keys: readonly string[]): unknown {
  const tag = keys[0];
  if (tag === undefined || keys.length > 1) throw new OutsideDomain(messages.reserved);
  const content = value[tag];
  return tag === '$bytes' && typeof content === 'string' ? fromBase64(content) : untag(tag, content);
}

function atKey(
  key: PropertyKey,
  item: unknown,
  depth: number,
  walk: (item: unknown, depth: number) => unknown,
): unknown {
  try {
    return walk(item, depth + 1);
  } catch (error) {
    if (error instanceof OutsideDomain) error.path.unshift(key);
    throw error;
  }
}

function tooDeep(): OutsideDomain {
  return new OutsideDomain(messages.tooDeep);
}

/** JSON has no infinities, but numbers that are read as such: 1e999. */
function checkedNumber(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new OutsideDomain(messages.notFinite(value));
}

function checkedDigits(digits: string): string {
  if (BIGINT_PATTERN.test(digits)) return digits;
  throw new OutsideDomain(messages.bigintDigits);
}

function checkedTime(time: number): number {
  if (Number.isFinite(time)) return time;
  throw new OutsideDomain(messages.invalidDate);
}

const CHUNK_BYTES = 0x2000;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) {
    // Spread, bytes would go through their iterator, which takes six times as long.
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(i, i + CHUNK_BYTES)) as string;
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw new OutsideDomain('$bytes must hold base64');
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
