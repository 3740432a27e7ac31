/** Copies of plain data: changing one does not change another's, and what is no plain data has no copy. */

/** Thrown for what cannot be copied and still be structurally equal. */
export class NoPlainData extends Error {
  /** Where it stands, for example `value.items.0.price`. */
  readonly path: string;

  constructor(path: string, value: unknown) {
    super(`${path} is ${kindOf(value)}`);
    this.path = path;
  }
}

/** A copy, and whether a store gives its like back. */
export interface Copied<T> {
  readonly value: T;
  /**
   * Where something stands that stores change: an object without a prototype, a Blob of a class of its own; `undefined` where
   * there is nothing.
   */
  readonly fadesAt: string | undefined;
}

/**
 * A value of its own for everybody: primitives, plain objects, arrays, dates, maps, sets, buffers and views on them, Node's
 * `Buffer` among them, of which only the bytes that they show. Blobs never change, and are shared.
 *
 * @throws NoPlainData for all else: functions, symbols, instances of classes, also of such as extend one of these
 */
export function copyOf<T>(value: T, path = 'value'): Copied<T> {
  const copier = new Copier();
  return { value: copier.copy(value, path) as T, fadesAt: copier.fadesAt };
}

/** The same, and the value itself where there is no copy of it. */
export function ownOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  try {
    return copyOf(value).value;
  } catch {
    return value;
  }
}

class Copier {
  fadesAt: string | undefined;
  /** Cycles end, and what is shared stays so. */
  readonly #copies = new Map<object, object>();

  copy(value: unknown, path: string): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw new NoPlainData(path, value);
    if (typeof value !== 'object' || value === null) return value;
    return this.#copies.get(value) ?? this.#copyObject(value, path);
  }

  #copyObject(value: object, path: string): object {
    const keep = <T extends object>(copy: T): T => {
      this.#copies.set(value, copy);
      return copy;
    };
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return keep(copyBytes(value, path));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (value instanceof Blob) {
      if (prototype !== Blob.prototype && prototype !== File.prototype) this.fadesAt ??= path;
      return value;
    }
    if (Array.isArray(value)) {
      // What a list inherits from is one, in every realm; what extends it may have a state of its own.
      if (!Array.isArray(prototype)) throw new NoPlainData(path, value);
      const items = keep(Array.from<unknown>({ length: value.length }));
      for (let i = 0; i < value.length; i++) items[i] = this.copy(value[i], `${path}.${i}`);
      return items;
    }
    if (prototype === Date.prototype) return keep(new Date((value as Date).getTime()));
    if (prototype === Map.prototype) {
      const map = keep(new Map());
      for (const [key, item] of value as Map<unknown, unknown>) {
        map.set(this.copy(key, `${path}.key`), this.copy(item, `${path}.${String(key)}`));
      }
      return map;
    }
    if (prototype === Set.prototype) {
      const set = keep(new Set());
      for (const item of value as Set<unknown>) set.add(this.copy(item, `${path}.item`));
      return set;
    }
    if (prototype !== Object.prototype && prototype !== null) throw new NoPlainData(path, value);
    if (prototype === null) this.fadesAt ??= path;
    const fields = keep(Object.create(prototype) as Record<string, unknown>);
    for (const [name, field] of Object.entries(value)) {
      const copied = this.copy(field, `${path}.${name}`);
      // Assigned, a field of this name would be the prototype.
      if (name === '__proto__') Object.defineProperty(fields, name, { value: copied, ...PLAIN });
      else fields[name] = copied;
    }
    return fields;
  }
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

const VIEWS: readonly (new (bytes: ArrayBuffer) => ArrayBufferView)[] = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
  DataView,
];

/** Node's own view on bytes, where there is one. */
interface Buffers {
  readonly prototype: object;
  from(bytes: ArrayBuffer): ArrayBufferView;
}

const buffers = (): Buffers | undefined => (globalThis as unknown as { readonly Buffer?: Buffers }).Buffer;

/** Bytes and nothing more: what extends them may have a state of its own. */
export function isPlainBytes(value: object): value is Uint8Array {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Uint8Array.prototype || prototype === buffers()?.prototype;
}

/** The bytes that are seen. */
function copyBytes(value: ArrayBufferView | ArrayBuffer, path: string): object {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === ArrayBuffer.prototype) return (value as ArrayBuffer).slice(0);
  const make = makerOf(prototype);
  if (make === undefined || !ArrayBuffer.isView(value)) throw new NoPlainData(path, value);
  const bytes = new Uint8Array(value.byteLength);
  bytes.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return make(bytes.buffer);
}

/** Makes views of one kind; `undefined` for those of a class of somebody's own. */
function makerOf(prototype: unknown): ((bytes: ArrayBuffer) => ArrayBufferView) | undefined {
  const View = VIEWS.find((view) => view.prototype === prototype);
  if (View !== undefined) return (bytes) => new View(bytes);
  const Buffer = buffers();
  return Buffer !== undefined && Buffer.prototype === prototype ? (bytes) => Buffer.from(bytes) : undefined;
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name } = (value?.constructor ?? {}) as { name?: unknown };
  return `an instance of ${typeof name === 'string' && name !== '' ? name : 'a class'}`;
}
