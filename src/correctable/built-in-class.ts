/**
 * Kinds of objects in any realm: an iframe, a `vm` context and Jest have
 * built-in classes of their own.
 */

/**
 * How engines write built-in functions as text: no function of a program has
 * this body.
 */
const NATIVE_CODE = /\{\s*\[native code\]\s*\}$/;

interface ClassConstructor {
  readonly prototype: unknown;
  readonly name: string;
}

/**
 * Returns the name of the built-in class that an object is a direct instance
 * of, whatever realm that class belongs to: `Object`, `Array`, `Date`, `Map`…
 * Node's `Buffer` is a `Uint8Array`, an object without a prototype is `null`.
 * Returns `undefined` for instances of other classes, which may have private
 * state: also of those that extend a built-in one.
 */
export function getBuiltInClass(value: object): string | undefined {
  const prototype = Object.getPrototypeOf(value) as {
    readonly constructor?: ClassConstructor;
  } | null;
  if (prototype === Object.prototype) return 'Object';
  if (!prototype) return 'null';
  if (prototype === Array.prototype && Array.isArray(value)) return 'Array';
  const maker = prototype.constructor;
  if (maker?.prototype !== prototype) return undefined;
  const { name } = maker;
  if (name === 'Buffer')
    return ArrayBuffer.isView(value) ? 'Uint8Array' : undefined;
  const isBuiltIn =
    (globalThis as never)[name] === maker || NATIVE_CODE.test(String(maker));
  // Test frameworks replace it by a class that extends it.
  const kind = prototype === Date.prototype ? 'Date' : isBuiltIn && name;
  return kind && hasStateOf(value, kind) ? kind : undefined;
}

/**
 * Whether an object has the internal state of the built-in class named `kind`.
 * `Object.create(Map.prototype)` has none, nor has a proxy: what the class has
 * throws a `TypeError` for them.
 */
export function hasStateOf(value: object, kind: string): boolean {
  try {
    if (kind === 'Date') Date.prototype.getTime.call(value);
    // Getters of the classes that have them.
    Reflect.get(value, 'size');
    Reflect.get(value, 'byteLength');
    return kind !== 'Array' || Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Returns what internal state a value has, whatever realm it comes from:
 * `Error`, `Date`, `Number`, `BigInt`…
 */
export function getToStringTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
