/**
 * Structural equality of values: the meaning of "the same value" unless an operation has another
 * (COR-7).
 */
import { getBuiltInClass } from './built-in-class.ts';

/**
 * After this number of pairs, assumptions are noted, so that cycles end and shared objects are
 * compared once. Few values need that.
 */
const MAX_UNTRACKED_PAIRS = 100_000;

type Properties = Readonly<Record<string, unknown>>;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/** One comparison in flight. */
interface Comparison {
  /**
   * The pairs of objects that are still to be compared. An array replaces recursion, because the
   * stack of the engine is limited.
   */
  pairs: object[];
  comparedCount: number;
  /** For each object, the objects that it equals if all remaining comparisons succeed. */
  assumedEqual?: Map<object, Set<object>>;
  /** Functions that take back the assumptions, in the order in which these were made. */
  undoSteps?: (() => void)[];
}

/**
 * Returns whether two values are structurally equal. Primitives compare by `Object.is`. Plain
 * objects, with or without a prototype, arrays, `Date`, `Map`, `Set`, array buffers, typed arrays
 * and Node's `Buffer` compare by content, from any realm. Other objects, whose state may be
 * private, compare only by identity. So do instances of classes that extend one of these.
 *
 * @example
 * structurallyEqual({ tags: new Set(['a']) }, { tags: new Set(['a']) }); // true
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  const comparison: Comparison = { pairs: [], comparedCount: 0 };
  return compareValues(a, b, comparison) && areAllEqual(comparison);
}

/** Returns whether two primitives are equal. Objects are added to the pairs and compared later. */
function compareValues(a: unknown, b: unknown, { pairs }: Comparison): boolean {
  return Object.is(a, b) || (isObject(a) && isObject(b) && pairs.push(a, b) > 0);
}

function areAllEqual(comparison: Comparison): boolean {
  const { pairs } = comparison;
  while (pairs.length) if (!compareStructure(pairs.pop()!, pairs.pop()!, comparison)) return false;
  return true;
}

/**
 * Returns whether two objects are equal, with everything that they refer to. If not, drops the
 * assumptions that were made on the way.
 */
function areEqual(a: unknown, b: unknown, comparison: Comparison): boolean {
  const { pairs, undoSteps } = comparison;
  const undoFrom = undoSteps?.length ?? 0;
  comparison.pairs = [];
  const isEqual = compareValues(a, b, comparison) && areAllEqual(comparison);
  comparison.pairs = pairs;
  if (!isEqual) for (const undo of comparison.undoSteps?.splice(undoFrom) ?? []) undo();
  return isEqual;
}

/** Returns whether two objects are equal if the pairs that this adds are equal. */
function compareStructure(a: object, b: object, comparison: Comparison): boolean {
  const kind = getBuiltInClass(a);
  if (!kind || kind !== getBuiltInClass(b)) return false;
  if (comparison.comparedCount++ > MAX_UNTRACKED_PAIRS && isAssumed(a, b, comparison)) return true;
  if (kind === 'Object') return compareProperties(a as Properties, b as Properties, comparison);
  if (isCollection(a, kind)) return compareItems(a, b as Collection, kind === 'Map', comparison);
  const list = toArray(a, kind);
  const other = toArray(b, kind);
  if (!list || list.length !== other!.length) return false;
  for (let at = 0; at < list.length; at++)
    if (!compareValues(list[at], other![at], comparison)) return false;
  return true;
}

/**
 * Neither object has inherited properties that count, so `for in` is used: it is the fastest way to
 * read the own ones.
 */
function compareProperties(a: Properties, b: Properties, comparison: Comparison): boolean {
  let surplus = 0;
  for (const key in a) {
    const value = b[key];
    // Plain objects inherit only functions and their prototype. A check of each key would cost
    // more.
    const mayBeInherited =
      value === undefined || key === '__proto__' || typeof value === 'function';
    if ((mayBeInherited && !Object.hasOwn(b, key)) || !compareValues(a[key], value, comparison))
      return false;
    surplus--;
  }
  for (const _key in b) surplus++;
  return surplus === 0;
}

/**
 * Compares items of sets or keys of maps. Objects may have an equal object, rather than themselves,
 * on the other side.
 */
function compareItems(
  a: Collection,
  b: Collection,
  isMap: boolean,
  comparison: Comparison,
): boolean {
  // Create the object without a prototype, because a sketch may equal the name of a member of
  // `Object.prototype`.
  const others = Object.create(null) as Record<string, unknown[]>;
  const keyOf = (item: unknown): unknown => (isMap ? (item as unknown[])[0] : item);
  const alikeOf = (item: unknown): unknown[] => (others[createSketch(keyOf(item))] ??= []);
  for (const item of b) if (!a.has(keyOf(item))) alikeOf(item).push(item);
  for (const item of a) {
    const key = keyOf(item);
    if (b.has(key)) {
      if (
        isMap &&
        !compareValues((item as unknown[])[1], (b as Map<unknown, unknown>).get(key), comparison)
      )
        return false;
    } else {
      const alike = alikeOf(item);
      // A single candidate needs no decision here. It is only added to the pairs to compare later,
      // so that sets can be nested to any depth.
      const isEqual = alike.length > 1 ? areEqual : compareValues;
      const at = alike.findIndex((other) => isEqual(item, other, comparison));
      if (at < 0) return false;
      alike.splice(at, 1);
    }
  }
  return a.size === b.size;
}

/** Returns whether two objects are assumed to be equal. If not, assumes it from now on. */
function isAssumed(a: object, b: object, comparison: Comparison): boolean {
  const assumed = (comparison.assumedEqual ??= new Map());
  const equals = assumed.get(a) ?? new Set();
  if (equals.has(b)) return true;
  assumed.set(a, equals.add(b));
  (comparison.undoSteps ??= []).push(() => equals.delete(b));
  return false;
}

/**
 * Returns a text that is the same for all equal values, and differs for most others. Only items
 * with equal texts are compared with each other. Without the text, each item of a set would be
 * compared with every item of the other set. The text is made of a bounded number of parts, even if
 * the value refers to one object many times.
 */
export function createSketch(value: unknown, depth = 3): string {
  if (!isObject(value)) return String(value);
  if (depth === 0) return '';
  const kind = getBuiltInClass(value);
  const maxParts = 4 ** depth;
  const next = (part: unknown): string => createSketch(part, depth - 1);
  if (isCollection(value, kind))
    return value.size > maxParts ? '' : Array.from<unknown, string>(value, next).sort().join();
  const list = toArray(value, kind);
  const parts = list ?? Object.keys(value).sort();
  // A hole in an array counts as `undefined`.
  return [parts.length, ...parts.slice(0, maxParts), ...(list?.slice(-maxParts) ?? [])]
    .map(list ? next : (name) => String(name) + next((value as Properties)[name as string]))
    .join();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isCollection(_value: object, kind: string | undefined): _value is Collection {
  return kind === 'Map' || kind === 'Set';
}

/** Returns the items of an array, the bytes of a buffer, or the time of a date. */
function toArray(value: object, kind: string | undefined): unknown[] | undefined {
  if (kind === 'Array') return value as unknown[];
  if (kind === 'Date') return [+(value as Date)];
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength) as never;
  return kind === 'ArrayBuffer' ? (new Uint8Array(value as ArrayBuffer) as never) : undefined;
}
