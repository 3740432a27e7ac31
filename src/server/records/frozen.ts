/**
 * Values that are in the state of sites: nobody changes them, least of all a generator that has read them. Bytes and dates
 * cannot be frozen, so that readers get copies of what has some in it.
 */
import { isPlain } from '../../protocol/codec/value-domain.ts';

/** What was frozen here, all through: that somebody else froze an object says nothing of its parts. */
const FROZEN = new WeakSet<object>();
/** Those of them with bytes or dates in them. */
const WITH_CHANGEABLE = new WeakSet<object>();

/** The value, with all that is in it, as something that cannot be changed. Bytes and dates stay as they are. */
export function frozen<T>(value: T): T {
  freeze(value);
  return value;
}

/** A value that an author gave, who may still have it: frozen, and a copy where it has bytes or dates in it. */
export function kept<T>(value: T): T {
  return handedOut(frozen(value));
}

/** A value of the state, for somebody who might change it. */
export function handedOut<T>(value: T): T {
  return isChangeable(value) ? (copyOf(value, new Map()) as T) : value;
}

/** Whether somebody who has the value could change something of it. */
export function isChangeable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (isBytesOrDate(value) || WITH_CHANGEABLE.has(value));
}

/** Says whether there is something that could not be frozen. */
function freeze(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (FROZEN.has(value)) return isChangeable(value);
  if (!Array.isArray(value) && !isPlain(value)) return isBytesOrDate(value);
  FROZEN.add(Object.freeze(value));
  let holdsChangeable = false;
  for (const part of Object.values(value)) holdsChangeable = freeze(part) || holdsChangeable;
  if (holdsChangeable) WITH_CHANGEABLE.add(value);
  return holdsChangeable;
}

function isBytesOrDate(value: object): value is Uint8Array | Date {
  return value instanceof Uint8Array || value instanceof Date;
}

/** @param made the copies so far, by what they are of: what refers to itself is refused later, and has to end here */
function copyOf(value: unknown, made: Map<unknown, unknown>): unknown {
  if (!isChangeable(value)) return value;
  // Not by `slice`: that of Node's buffers shares the memory.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Date) return new Date(value);
  const known = made.get(value);
  if (known !== undefined) return known;
  const copy: object = Array.isArray(value) ? [] : {};
  made.set(value, copy);
  for (const [name, part] of Object.entries(value as object)) {
    Object.defineProperty(copy, name, { value: copyOf(part, made), enumerable: true });
  }
  FROZEN.add(Object.freeze(copy));
  WITH_CHANGEABLE.add(copy);
  return copy;
}
