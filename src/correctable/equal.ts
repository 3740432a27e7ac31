/** Structural equality of values: what "the same value" means unless an operation says otherwise (C7). */

/** Deeper than this, pairs under comparison are remembered, so that cycles end. */
const UNTRACKED_DEPTH_MAX = 64;

type Pairs = Map<object, object>;

/**
 * Whether two values are structurally equal: primitives by `Object.is`; plain objects, arrays, `Date`, `Map`, `Set`,
 * array buffers and typed arrays by content. Other objects, whose state may be private, only by identity.
 *
 * @example
 * structurallyEqual({ tags: new Set(['a']) }, { tags: new Set(['a']) }); // true
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || equalObjects(a, b, 0, undefined);
}

function equal(a: unknown, b: unknown, depth: number, pairs: Pairs | undefined): boolean {
  return Object.is(a, b) || equalObjects(a, b, depth, pairs);
}

function equalObjects(a: unknown, b: unknown, depth: number, known: Pairs | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  let pairs = known;
  if (depth > UNTRACKED_DEPTH_MAX) {
    if (pairs?.get(a) === b) return true;
    pairs = (pairs ?? new Map<object, object>()).set(a, b);
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalArrays(a, b, depth + 1, pairs);
  const prototype: unknown = Object.getPrototypeOf(a);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return equalBytes(a, b);
  if (prototype !== Object.getPrototypeOf(b)) return false;
  if (prototype === Object.prototype || prototype === null) return equalProperties(a, b, depth + 1, pairs);
  return equalBuiltIns(a, b, depth + 1, pairs);
}

function equalArrays(a: readonly unknown[], b: readonly unknown[], depth: number, pairs: Pairs | undefined): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth, pairs)) return false;
  return true;
}

function equalProperties(a: object, b: object, depth: number, pairs: Pairs | undefined): boolean {
  const left: Record<string, unknown> = Object(a);
  const right: Record<string, unknown> = Object(b);
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(right, key) || !equal(left[key], right[key], depth, pairs)) return false;
  }
  return true;
}

/** Both have one prototype, which is not that of plain objects. */
function equalBuiltIns(a: object, b: object, depth: number, pairs: Pairs | undefined): boolean {
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime());
  if (a instanceof Map) return equalMaps(a, b as Map<unknown, unknown>, depth, pairs);
  if (a instanceof Set) return equalSets(a, b as Set<unknown>, depth, pairs);
  if (ArrayBuffer.isView(a)) return equalBytes(bytesOf(a), bytesOf(b as ArrayBufferView));
  if (a instanceof ArrayBuffer) return equalBytes(new Uint8Array(a), new Uint8Array(b as ArrayBuffer));
  return false;
}

type AnyMap = ReadonlyMap<unknown, unknown>;

function equalMaps(a: AnyMap, b: AnyMap, depth: number, pairs: Pairs | undefined): boolean {
  if (a.size !== b.size) return false;
  const unmatched: [unknown, unknown][] = [];
  for (const entry of a) {
    if (!b.has(entry[0])) unmatched.push(entry);
    else if (!equal(entry[1], b.get(entry[0]), depth, pairs)) return false;
  }
  if (unmatched.length === 0) return true;
  return matchAll(
    unmatched,
    [...b].filter(([key]) => !a.has(key)),
    depth,
    pairs,
  );
}

function equalSets(a: Set<unknown>, b: Set<unknown>, depth: number, pairs: Pairs | undefined): boolean {
  if (a.size !== b.size) return false;
  const unmatched = [...a].filter((item) => !b.has(item));
  if (unmatched.length === 0) return true;
  return matchAll(
    unmatched,
    [...b].filter((item) => !a.has(item)),
    depth,
    pairs,
  );
}

/** Whether every item of `left` equals another one of `right`; for items that are objects, so that `has` missed them. */
function matchAll(left: readonly unknown[], right: unknown[], depth: number, pairs: Pairs | undefined): boolean {
  return left.every((item) => {
    const at = right.findIndex((candidate) => equal(item, candidate, depth, pairs));
    if (at >= 0) right.splice(at, 1);
    return at >= 0;
  });
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
