/** Structural equality of values: what "the same value" means unless an operation says otherwise (C7). */

/** Deeper than this, pairs under comparison are remembered: cycles end, and what is shared is compared once. */
const UNTRACKED_DEPTH_MAX = 8;
/** Deeper than this, pairs are compared later: the stack has an end, and what stores answer need not. */
const DEPTH_MAX = 256;

type Pairs = Map<object, object>;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/**
 * Whether two values are structurally equal: primitives by `Object.is`; plain objects, arrays, `Date`, `Map`, `Set`,
 * array buffers and typed arrays by content. Other objects, whose state may be private, only by identity.
 *
 * @example
 * structurallyEqual({ tags: new Set(['a']) }, { tags: new Set(['a']) }); // true
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  // Another comparison may be under way: this one may be asked for by what that one reads.
  const from = later.length;
  try {
    let isEqual = equal(a, b, 0, undefined);
    let pairs: Pairs | undefined;
    while (isEqual && later.length > from) {
      isEqual = equal(...later.pop()!, UNTRACKED_DEPTH_MAX + 1, (pairs ??= new Map()));
    }
    return isEqual;
  } finally {
    later.length = from;
  }
}

/** Pairs that lie too deep to be compared at once. */
const later: [object, object][] = [];

function equal(a: unknown, b: unknown, depth: number, known: Pairs | undefined): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  let pairs = known;
  if (depth > UNTRACKED_DEPTH_MAX) {
    if (pairs?.get(a) === b) return true;
    if (depth > DEPTH_MAX) return later.push([a, b]) > 0;
    pairs = (pairs ?? new Map<object, object>()).set(a, b);
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalArrays(a, b, depth + 1, pairs);
  const prototype: unknown = Object.getPrototypeOf(a);
  const samePrototype = prototype === Object.getPrototypeOf(b);
  if (prototype === Object.prototype || prototype === null) {
    return samePrototype && equalProperties(a, b, depth + 1, pairs);
  }
  // Stores may answer in a subclass, as Node's Buffer is one.
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalArrays(a, b, depth, pairs);
  return samePrototype && equalBuiltIns(a, b, depth + 1, pairs);
}

function equalArrays(a: ArrayLike<unknown>, b: ArrayLike<unknown>, depth: number, pairs: Pairs | undefined): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth, pairs)) return false;
  return true;
}

/** Neither has inherited properties that count: `for in` is the fastest way to see the own ones. */
function equalProperties(a: object, b: object, depth: number, pairs: Pairs | undefined): boolean {
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let surplus = 0;
  for (const key in left) {
    const value = right[key];
    if (value === undefined && !Object.hasOwn(right, key)) return false;
    if (!equal(left[key], value, depth, pairs)) return false;
    surplus--;
  }
  for (const _key in right) surplus++;
  return surplus === 0;
}

/** Both have one prototype, which is not that of plain objects. */
function equalBuiltIns(a: object, b: object, depth: number, pairs: Pairs | undefined): boolean {
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime());
  if (a instanceof Map || a instanceof Set) return equalCollections(a, b as Collection, depth, pairs);
  const bytes = bytesOf(a);
  return bytes !== undefined && equalArrays(bytes, bytesOf(b)!, depth, pairs);
}

type Entry = readonly [key: unknown, value: unknown];

/** Keys and items that are objects may have an equal instead of themselves on the other side. */
function equalCollections(a: Collection, b: Collection, depth: number, pairs: Pairs | undefined): boolean {
  if (a.size !== b.size) return false;
  const strangers = new Map<string, Entry[]>();
  const alikeOf = (key: unknown): Entry[] => {
    const sketch = sketchOf(key);
    const alike = strangers.get(sketch) ?? [];
    strangers.set(sketch, alike);
    return alike;
  };
  for (const entry of b.entries()) if (!a.has(entry[0])) alikeOf(entry[0]).push(entry);
  for (const entry of a.entries()) {
    const [key, value] = entry;
    if (b.has(key)) {
      if (b instanceof Map && !equal(value, b.get(key), depth, pairs)) return false;
    } else {
      const alike = alikeOf(key);
      const at = alike.findIndex((other) => equal(entry, other, depth, pairs));
      if (at < 0) return false;
      alike.splice(at, 1);
    }
  }
  return true;
}

/** The same for all that are equal, and another for most that are not: without it each is compared with each. */
export function sketchOf(key: unknown): string {
  if (typeof key !== 'object' || !key || ArrayBuffer.isView(key)) return '';
  const items = Object.entries(key).map(([name, item]) => name + (typeof item === 'object' ? '' : String(item)));
  return items.sort().join();
}

function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}
