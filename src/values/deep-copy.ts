/**
 * Copies plain data of any realm. A change of the copy does not change the value, and both are
 * structurally equal.
 */
import { structurallyEqual } from '../correctable/structural-equality.ts';
import { getBuiltInClass } from '../correctable/built-in-class.ts';

/** Thrown for a value that has no structurally equal copy. */
export class NotPlainDataError extends Error {
  /** The path of that value, for example `value.items.0.price`. */
  readonly path: string;

  constructor(path: string, value: unknown) {
    super(`${path} is ${describeValue(value)}`);
    this.path = path;
  }
}

/** A copy, and whether a store returns it unchanged. */
export interface CopyResult<T> {
  readonly value: T;
  /**
   * Path of the first part that stores change, such as an object without a prototype or a symbol.
   * `undefined` if there is none.
   */
  readonly lossyPath: string | undefined;
}

/**
 * Copies primitives, plain objects, arrays, dates, maps, sets, buffers and views on them (of these
 * the visible bytes only), Node's `Buffer` included. Blobs never change, and are shared.
 *
 * @throws NotPlainDataError for functions, symbols and instances of classes, including classes that
 * extend a built-in one
 */
export function copyPlainData<T>(value: T, path = 'value'): CopyResult<T> {
  const copier = new Copier((part, at) => {
    const kind = getBuiltInClass(part as object);
    if (kind === 'Blob' || kind === 'File') return part;
    if (typeof Blob === 'undefined' || !(part instanceof Blob))
      throw new NotPlainDataError(at, part);
    copier.lossyPath ??= at;
    return part;
  });
  return { value: copier.copy(value, path) as T, lossyPath: copier.lossyPath };
}

/** Returns a copy of the value, or the value itself if any part of it has no copy. */
export function copyOrReuse<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  try {
    return copyPlainData(value).value;
  } catch {
    return value;
  }
}

/** Returns a copy of the value. Parts that have no copy are shared. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  return new Copier((part) => part).copy(value, '') as T;
}

/**
 * Copies a value as `deepCopy` does. Returns `undefined` if the copy differs from the value, as for
 * an object that changes at each access, or if copying fails.
 */
export function tryEqualCopy(value: unknown): { readonly copy: unknown } | undefined {
  try {
    const copy = deepCopy(value);
    return structurallyEqual(copy, value) ? { copy } : undefined;
  } catch {
    // A getter has thrown, or the value is nested too deeply.
    return undefined;
  }
}

/** Sets a property of any name. An assignment to `__proto__` would set the prototype instead. */
export function defineProperty(
  object: Record<string, unknown>,
  name: string,
  value: unknown,
): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

class Copier {
  lossyPath: string | undefined;
  readonly #copyOther: (value: unknown, path: string) => unknown;
  /**
   * The copies of objects so far, for cycles and shared parts. Most values have no parts, so the
   * outermost object is kept apart.
   */
  #outermostCopy: readonly [object, object] | undefined;
  #copies: Map<object, object> | undefined;

  /** @param other returns the replacement of a part that has no copy, or throws */
  constructor(other: (value: unknown, path: string) => unknown) {
    this.#copyOther = other;
  }

  copy(value: unknown, path: string): unknown {
    if (typeof value === 'function' || typeof value === 'symbol')
      return this.#copyOther(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (this.#outermostCopy?.[0] === value) return this.#outermostCopy[1];
    return this.#copies?.get(value) ?? this.#copyObject(value, path);
  }

  #registerCopy<T extends object>(value: object, copy: T): T {
    if (this.#outermostCopy === undefined) this.#outermostCopy = [value, copy];
    else (this.#copies ??= new Map()).set(value, copy);
    return copy;
  }

  #copyObject(value: object, path: string): unknown {
    const kind = getBuiltInClass(value);
    switch (kind ?? '') {
      case 'Object':
        if (Object.getPrototypeOf(value) !== null) return this.#copyFields(value, {}, path);
        this.lossyPath ??= path;
        return this.#copyFields(value, Object.create(null) as Record<string, unknown>, path);
      case 'Array': {
        const list = value as readonly unknown[];
        const items = this.#registerCopy(value, Array.from<unknown>({ length: list.length }));
        for (let i = 0; i < list.length; i++) items[i] = this.copy(list[i], `${path}.${i}`);
        return items;
      }
      case 'Date':
        return this.#registerCopy(value, new Date((value as Date).getTime()));
      case 'Map': {
        const map = this.#registerCopy(value, new Map());
        for (const [key, item] of value as ReadonlyMap<unknown, unknown>) {
          map.set(this.copy(key, `${path}.key`), this.copy(item, `${path}.${String(key)}`));
        }
        return map;
      }
      case 'Set': {
        const set = this.#registerCopy(value, new Set());
        for (const item of value as ReadonlySet<unknown>) set.add(this.copy(item, `${path}.item`));
        return set;
      }
      case 'ArrayBuffer':
        return this.#registerCopy(value, toBytes(value as ArrayBuffer).buffer);
      default:
        if (kind !== undefined && ArrayBuffer.isView(value))
          return this.#registerCopy(value, copyArrayBufferView(value, kind));
        return this.#copyOther(value, path);
    }
  }

  #copyFields(value: object, fields: Record<PropertyKey, unknown>, path: string): object {
    this.#registerCopy(value, fields);
    for (const [name, field] of Object.entries(value))
      defineProperty(fields, name, this.copy(field, `${path}.${name}`));
    for (const symbol of Object.getOwnPropertySymbols(value)) {
      this.lossyPath ??= path;
      fields[symbol] = this.copy(value[symbol as never], path);
    }
    return fields;
  }
}

type NodeBufferConstructor = {
  from(bytes: ArrayBuffer): ArrayBufferView;
  isBuffer(value: unknown): boolean;
};
type ArrayBufferViewClass = new (bytes: ArrayBuffer) => ArrayBufferView;

function copyArrayBufferView(value: ArrayBufferView, kind: string): ArrayBufferView {
  const { Buffer, [kind]: Class } = globalThis as unknown as {
    Buffer?: NodeBufferConstructor;
  } & Record<string, ArrayBufferViewClass>;
  const { buffer } = toBytes(value);
  return Buffer?.isBuffer(value) ? Buffer.from(buffer) : new Class!(buffer);
}

function toBytes(value: ArrayBufferView | ArrayBuffer): Uint8Array<ArrayBuffer> {
  // The outer `Uint8Array` makes the copy.
  if (!('buffer' in value)) return new Uint8Array(new Uint8Array(value));
  return new Uint8Array(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
}

function describeValue(value: unknown): string {
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name } = (value?.constructor ?? {}) as { name?: unknown };
  return `an instance of ${typeof name === 'string' && name !== '' ? name : 'a class'}`;
}
