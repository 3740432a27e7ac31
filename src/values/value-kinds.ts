/**
 * What values are, whatever realm they come from: an iframe, a `vm` context and
 * Jest have built-in classes of their own.
 */
import {
  hasStateOf,
  getBuiltInClass,
  getToStringTag,
} from '../correctable/built-in-class.ts';

/** Deepest nesting of arrays and objects in a value that is written or sent. */
export const MAX_DEPTH = 64;

/** Whether an object is plain: no array, and no instance of a class. */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Looked at first, since it is quick: nothing but `Object.prototype` and what
  // extends nothing has no prototype.
  return (
    Object.getPrototypeOf(prototype) === null &&
    getBuiltInClass(value) === 'Object'
  );
}

/** Whether it is bytes: a `Uint8Array`, or of a class that extends it. */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    ArrayBuffer.isView(value) &&
    (value instanceof Uint8Array || getToStringTag(value) === 'Uint8Array')
  );
}

/** Whether it is a date, or of a class that extends it. */
export function isDate(value: unknown): value is Date {
  if (value instanceof Date) return hasStateOf(value, 'Date');
  return (
    getToStringTag(value) === 'Date' &&
    !(Symbol.toStringTag in (value as object))
  );
}

/** Whether it is a set, or of a class of this realm that extends it. */
export function isSet(value: unknown): value is ReadonlySet<unknown> {
  if (value instanceof Set) return hasStateOf(value, 'Set');
  return (
    typeof value === 'object' &&
    value !== null &&
    getBuiltInClass(value) === 'Set'
  );
}

/** Whether it is a map, or of a class of this realm that extends it. */
export function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  if (value instanceof Map) return hasStateOf(value, 'Map');
  return (
    typeof value === 'object' &&
    value !== null &&
    getBuiltInClass(value) === 'Map'
  );
}
