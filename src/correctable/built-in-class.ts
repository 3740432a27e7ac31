/**
 * Recognizes built-in objects of any realm: an iframe, a `vm` context and Jest have built-in
 * classes of their own.
 */

/** The text of a built-in function in every engine. No function of a program has this body. */
const NATIVE_CODE = /\{\s*\[native code\]\s*\}$/;

interface ClassConstructor {
  readonly prototype: unknown;
  readonly name: string;
}

/**
 * Returns the name of the built-in class that an object is a direct instance of, whatever realm
 * that class belongs to: `Object`, `Array`, `Date`, `Map`… Returns `Uint8Array` for Node's
 * `Buffer`, and `Object` for an object without a prototype: parsers return one or the other for the
 * same fields. Returns `undefined` for instances of other classes, which may have private state.
 * That includes classes that extend a built-in one.
 */
export function getBuiltInClass(value: object): string | undefined {
  const prototype = Object.getPrototypeOf(value) as {
    readonly constructor?: ClassConstructor;
  } | null;
  if (!prototype || prototype === Object.prototype) return 'Object';
  if (prototype === Array.prototype && Array.isArray(value)) return 'Array';
  const maker = prototype.constructor;
  if (maker?.prototype !== prototype) return undefined;
  const { name } = maker;
  if (name === 'Buffer') return ArrayBuffer.isView(value) ? 'Uint8Array' : undefined;
  const isBuiltIn = (globalThis as never)[name] === maker || NATIVE_CODE.test(String(maker));
  // Test frameworks replace `Date` by a class that extends it.
  const kind = prototype === Date.prototype ? 'Date' : isBuiltIn && name;
  return kind && hasStateOf(value, kind) ? kind : undefined;
}

/**
 * Returns whether an object has the internal state of the built-in class named `kind`.
 * `Object.create(Map.prototype)` and a proxy have none: the methods of the class throw a
 * `TypeError` for them.
 */
export function hasStateOf(value: object, kind: string): boolean {
  try {
    if (kind === 'Date') Date.prototype.getTime.call(value);
    // These classes have a getter that reads the internal state.
    Reflect.get(value, 'size');
    Reflect.get(value, 'byteLength');
    return kind !== 'Array' || Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Returns the kind of a value by its internal state, whatever realm it comes from: `Error`, `Date`,
 * `Number`, `BigInt`…
 */
export function getToStringTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
