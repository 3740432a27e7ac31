/** Structural equality of values: what "the same value" means unless an operation says otherwise (C7). */
import { kindOf } from './kind.ts';

/** After so many pairs, assumptions are kept: cycles end, and what is shared is compared once. Few values need them. */
const FREE_PAIRS_MAX = 100_000;

type Properties = Readonly<Record<string, unknown>>;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/** One comparison under way. */
interface Comparison {
  /** The objects that are still to be compared, in pairs: a stack of our own, since that of the engine has an end. */
  pairs: object[];
  looks: number;
  /** Of an object, those that it equals if all that is still to be compared does. */
  assumed?: Map<object, Set<object>>;
  /** Takes back each assumption, in the order in which they came. */
  undos?: (() => void)[];
}

/**
 * Whether two values are structurally equal: primitives by `Object.is`; plain objects, arrays, `Date`, `Map`, `Set`,
 * array buffers and typed arrays by content, whatever realm they come from, and so is Node's `Buffer`. Other objects, whose
 * state may be private, only by identity: those of classes, also of such as extend one of these.
 *
 * @example
 * structurallyEqual({ tags: new Set(['a']) }, { tags: new Set(['a']) }); // true
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  const comparison: Comparison = { pairs: [], looks: 0 };
  return compare(a, b, comparison) && areAllEqual(comparison);
}

/** Whether both are equal, as far as they are no objects: those are compared later. */
function compare(a: unknown, b: unknown, { pairs }: Comparison): boolean {
  return Object.is(a, b) || (isObject(a) && isObject(b) && pairs.push(a, b) > 0);
}

function areAllEqual(comparison: Comparison): boolean {
  const { pairs } = comparison;
  while (pairs.length > 0) if (!look(pairs.pop()!, pairs.pop()!, comparison)) return false;
  return true;
}

/** Whether both are equal, with all that they lead to. If not, what was assumed on the way is forgotten. */
function areEqual(a: unknown, b: unknown, comparison: Comparison): boolean {
  const { pairs, undos } = comparison;
  const undoFrom = undos?.length ?? 0;
  comparison.pairs = [];
  const isEqual = compare(a, b, comparison) && areAllEqual(comparison);
  comparison.pairs = pairs;
  if (!isEqual) for (const undo of comparison.undos?.splice(undoFrom) ?? []) undo();
  return isEqual;
}

/** Whether both are equal if the pairs that it adds are. */
function look(a: object, b: object, comparison: Comparison): boolean {
  const kind = kindOf(a);
  if (!kind || kind !== kindOf(b)) return false;
  if (comparison.looks++ > FREE_PAIRS_MAX && isAssumed(a, b, comparison)) return true;
  if (kind === 'Object' || kind === 'null') return compareProperties(a as Properties, b as Properties, comparison);
  if (kind === 'Date') return compare(+(a as Date), +(b as Date), comparison);
  if (isCollection(a, kind)) return compareItems(a, b as Collection, kind === 'Map', comparison);
  const list = listOf(a, kind);
  const other = listOf(b, kind);
  if (!list || list.length !== other!.length) return false;
  for (let at = 0; at < list.length; at++) if (!compare(list[at], other![at], comparison)) return false;
  return true;
}

/** Neither has inherited properties that count: `for in` is the fastest way to see the own ones. */
function compareProperties(a: Properties, b: Properties, comparison: Comparison): boolean {
  let surplus = 0;
  for (const key in a) {
    const value = b[key];
    // What plain objects inherit are functions and their prototype: to ask of each key would cost more.
    const mayBeInherited = value === undefined || key === '__proto__' || typeof value === 'function';
    if ((mayBeInherited && !Object.hasOwn(b, key)) || !compare(a[key], value, comparison)) return false;
    surplus--;
  }
  for (const _key in b) surplus++;
  return surplus === 0;
}

/** Keys and items that are objects may have an equal instead of themselves on the other side. */
function compareItems(a: Collection, b: Collection, isMap: boolean, comparison: Comparison): boolean {
  // Without a prototype: a sketch may have any name.
  const strangers = Object.create(null) as Record<string, unknown[]>;
  const keyOf = (item: unknown): unknown => (isMap ? (item as unknown[])[0] : item);
  const alikeOf = (item: unknown): unknown[] => (strangers[sketchOf(keyOf(item))] ??= []);
  for (const item of b) if (!a.has(keyOf(item))) alikeOf(item).push(item);
  for (const item of a) {
    const key = keyOf(item);
    if (b.has(key)) {
      if (isMap && !compare((item as unknown[])[1], (b as Map<unknown, unknown>).get(key), comparison)) return false;
    } else {
      const alike = alikeOf(item);
      // The only one left is no choice: it may be compared later, however deep such sets lie in each other.
      const isEqual = alike.length > 1 ? areEqual : compare;
      const at = alike.findIndex((other) => isEqual(item, other, comparison));
      if (at < 0) return false;
      alike.splice(at, 1);
    }
  }
  return a.size === b.size;
}

/** Whether both are equal if all that is still to be compared is; from now on that is assumed. */
function isAssumed(a: object, b: object, comparison: Comparison): boolean {
  const assumed = (comparison.assumed ??= new Map());
  const equals = assumed.get(a) ?? new Set();
  if (equals.has(b)) return true;
  assumed.set(a, equals.add(b));
  (comparison.undos ??= []).push(() => equals.delete(b));
  return false;
}

/**
 * The same for all that are equal, and another for most that are not: without it each is compared with each. It looks at
 * a bounded number of parts, however many times each is shared.
 */
function sketchOf(value: unknown, depth = 3): string {
  if (!isObject(value)) return String(value);
  if (depth === 0) return '';
  const kind = kindOf(value);
  if (kind === 'Date') return String(+(value as Date));
  const partsMax = 4 ** depth;
  const next = (part: unknown): string => sketchOf(part, depth - 1);
  if (isCollection(value, kind))
    return value.size > partsMax ? '' : Array.from<unknown, string>(value, next).sort().join();
  const list = listOf(value, kind);
  const parts = list ?? Object.keys(value).sort();
  // A hole in a list is as good as undefined.
  return [parts.length, ...parts.slice(0, partsMax), ...(list?.slice(-partsMax) ?? [])]
    .map(list ? next : (name) => String(name) + next((value as Properties)[name as string]))
    .join();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isCollection(_value: object, kind: string | undefined): _value is Collection {
  return kind === 'Map' || kind === 'Set';
}

/** The items of a list, and the bytes of what has some. */
function listOf(value: object, kind: string | undefined): unknown[] | undefined {
  if (kind === 'Array') return value as unknown[];
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength) as never;
  return kind === 'ArrayBuffer' ? (new Uint8Array(value as ArrayBuffer) as never) : undefined;
}
