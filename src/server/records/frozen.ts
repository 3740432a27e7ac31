/**
 * Values that are in the state of sites: nobody changes them, least of all a generator that has read them. Bytes and dates
 * cannot be frozen, so that readers get copies of what has some in it.
 */
import { isPlain } from '../../protocol/codec/value-domain.ts';

/** Frozen values with bytes or dates in them. */
const WITH_CHANGEABLE = new WeakSet<object>();

/** The value, with all that is in it, as something that cannot be changed. Bytes and dates stay as they are. */
export function frozen<T>(value: T): T {
  freeze(value);
  return value;
}

/** A value of the state, for somebody who might change it. */
export function handedOut<T>(value: T): T {
  return isChangeable(value) ? (copyOf(value) as T) : value;
}

/** Whether somebody who has the value could change something of it. */
export function isChangeable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (isBytesOrDate(value) || WITH_CHANGEABLE.has(value));
}

/** Says whether there is something that could not be frozen. */
function freeze(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.isFrozen(value)) return isChangeable(value);
  if (!Array.isArray(value) && !isPlain(value)) return isBytesOrDate(value);
  Object.freeze(value);
  let holdsChangeable = false;
  for (const part of Object.values(value)) holdsChangeable = freeze(part) || holdsChangeable;
  if (holdsChangeable) WITH_CHANGEABLE.add(value);
  return holdsChangeable;
}

function isBytesOrDate(value: object): value is Uint8Array | Date {
  return value instanceof Uint8Array || value instanceof Date;
}

function copyOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return Object.freeze(value.map(handedOut));
  const parts = Object.entries(value as object).map(([name, part]) => [name, handedOut(part)] as const);
  return Object.freeze(Object.fromEntries(parts));
}
