/**
 * Recognizes kinds of values of any realm: an iframe, a `vm` context and Jest have built-in classes
 * of their own.
 */
import { hasStateOf, getBuiltInClass, getToStringTag } from '../correctable/built-in-class.ts';

/** Maximum nesting of arrays and objects in a value that is encoded or sent. */
export const MAX_DEPTH = 64;

/** Returns whether an object is plain: no array, and no instance of a class. */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // The prototype is checked first, because that is quick. Only `Object.prototype` and objects that
  // extend nothing have none.
  return Object.getPrototypeOf(prototype) === null && getBuiltInClass(value) === 'Object';
}

/** Returns whether the value is a `Uint8Array`, or of a class that extends it. */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    ArrayBuffer.isView(value) &&
    (value instanceof Uint8Array || getToStringTag(value) === 'Uint8Array')
  );
}

/** Returns whether the value is a date, or of a class that extends `Date`. */
export function isDate(value: unknown): value is Date {
  if (value instanceof Date) return hasStateOf(value, 'Date');
  return getToStringTag(value) === 'Date' && !(Symbol.toStringTag in (value as object));
}

/** Returns whether the value is a set, or of a class of this realm that extends `Set`. */
export function isSet(value: unknown): value is ReadonlySet<unknown> {
  if (value instanceof Set) return hasStateOf(value, 'Set');
  return typeof value === 'object' && value !== null && getBuiltInClass(value) === 'Set';
}

/** Returns whether the value is a map, or of a class of this realm that extends `Map`. */
export function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  if (value instanceof Map) return hasStateOf(value, 'Map');
  return typeof value === 'object' && value !== null && getBuiltInClass(value) === 'Map';
}
