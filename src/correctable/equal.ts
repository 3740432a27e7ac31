/** Structural equality of values: what "the same value" means unless an operation says otherwise (C7). */
import { kindOf } from './kind.ts';

/** After so many looks at objects, assumptions are kept: cycles end, and what is shared is compared once. Few need them. */
const FREE_LOOKS_MAX = 100_000;
/** So are they once values have turned out to be deeper: most that are link back to where they came from. */
const FREE_DEPTH_MAX = 32;
/** Deeper than this, pairs are compared later: the stack has an end, and what stores answer need not. */
const DEPTH_MAX = 256;

type Properties = Readonly<Record<string, unknown>>;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/** One comparison under way. */
interface Comparison {
  looks: number;
  /** Pairs that lie too deep to be compared at once. */
  readonly later: [object, object][];
  assumptions: Assumptions | undefined;
}

/** Objects are equal, provided that all that is still to be compared is, where their links lead to the same one. */
interface Assumptions {
  readonly links: Map<object, object>;
  /** Of what is led to: at least how many are. */
  readonly weights: Map<object, number>;
  /** What has a link, in the order in which they came: those of a candidate that fails are taken back. */
  readonly linked: object[];
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
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  return a === b || proven(a, b, 0, { looks: 0, later: [], assumptions: undefined });
}

/** Whether both are equal, what lies too deep included. If not, nothing that was assumed on the way is left. */
function proven(a: unknown, b: unknown, depth: number, comparison: Comparison): boolean {
  const { later } = comparison;
  const laterFrom = later.length;
  const linkedFrom = comparison.assumptions?.linked.length ?? 0;
  let isEqual = equal(a, b, depth, comparison);
  while (isEqual && later.length > laterFrom) isEqual = equal(...later.pop()!, Math.min(depth, DEPTH_MAX), comparison);
  if (!isEqual) {
    later.length = laterFrom;
    const { links, linked } = comparison.assumptions ?? {};
    for (const object of linked?.splice(linkedFrom) ?? []) links!.delete(object);
  }
  return isEqual;
}

function equal(a: unknown, b: unknown, depth: number, comparison: Comparison): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (depth > DEPTH_MAX) return comparison.later.push([a, b]) > 0;
  comparison.looks += depth > FREE_DEPTH_MAX ? FREE_LOOKS_MAX : 1;
  if (comparison.looks > FREE_LOOKS_MAX && isAssumed(a, b, comparison)) return true;
  const kind = kindOf(a);
  return !!kind && kind === kindOf(b) && equalOfKind(kind, a, b, depth + 1, comparison);
}

function equalOfKind(kind: string, a: object, b: object, depth: number, comparison: Comparison): boolean {
  if (kind === 'Object' || kind === 'null') return equalProperties(a as Properties, b as Properties, depth, comparison);
  if (kind === 'Array') return equalArrays(a as readonly unknown[], b as readonly unknown[], depth, comparison);
  if (kind === 'Date') return Object.is((a as Date).getTime(), (b as Date).getTime());
  if (kind === 'Map' || kind === 'Set') return equalCollections(a as Collection, b as Collection, depth, comparison);
  const bytes = bytesOf(a, kind);
  return !!bytes && equalArrays(bytes, bytesOf(b, kind)!, depth, comparison);
}

/** Whether both are equal if all that is still to be compared is; from now on that is assumed. */
function isAssumed(a: object, b: object, comparison: Comparison): boolean {
  const { links, weights, linked }: Assumptions = (comparison.assumptions ??= {
    links: new Map(),
    weights: new Map(),
    linked: [],
  });
  const left = endOf(a, links);
  const right = endOf(b, links);
  if (left === right) return true;
  const leftWeight = weights.get(left) ?? 1;
  const rightWeight = weights.get(right) ?? 1;
  // The lighter is linked to the other: so no way is long.
  const [light, heavy] = leftWeight < rightWeight ? [left, right] : [right, left];
  links.set(light, heavy);
  weights.set(heavy, leftWeight + rightWeight);
  linked.push(light);
  return false;
}

function endOf(start: object, links: ReadonlyMap<object, object>): object {
  let end = start;
  for (let next: object | undefined = end; next; next = links.get(end)) end = next;
  return end;
}

function equalArrays(a: ArrayLike<unknown>, b: ArrayLike<unknown>, depth: number, comparison: Comparison): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth, comparison)) return false;
  return true;
}

/** Neither has inherited properties that count: `for in` is the fastest way to see the own ones. */
function equalProperties(left: Properties, right: Properties, depth: number, comparison: Comparison): boolean {
  let surplus = 0;
  for (const key in left) {
    const value = right[key];
    // What plain objects inherit are functions and their prototype: to ask of each key would cost more.
    const mayBeInherited = value === undefined || key === '__proto__' || typeof value === 'function';
    if (mayBeInherited && !Object.hasOwn(right, key)) return false;
    if (!equal(left[key], value, depth, comparison)) return false;
    surplus--;
  }
  for (const _key in right) surplus++;
  return surplus === 0;
}

/** Keys and items that are objects may have an equal instead of themselves on the other side. */
function equalCollections(a: Collection, b: Collection, depth: number, comparison: Comparison): boolean {
  if (a.size !== b.size) return false;
  // Without a prototype: a sketch may have any name.
  const strangers = Object.create(null) as Record<string, unknown[]>;
  const alikeOf = (key: unknown): unknown[] => (strangers[sketchOf(key)] ??= []);
  const isMap = 'get' in b;
  for (const entry of b.entries()) if (!a.has(entry[0])) alikeOf(entry[0]).push(isMap ? entry : entry[0]);
  for (const entry of a.entries()) {
    const [key, value] = entry;
    if (b.has(key)) {
      if (isMap && !equal(value, b.get(key), depth, comparison)) return false;
    } else {
      const alike = alikeOf(key);
      // The only one left is no choice: it may be compared later, however deep such sets lie in each other.
      const isEqual = alike.length > 1 ? proven : equal;
      const at = alike.findIndex((other) => isEqual(isMap ? entry : key, other, depth, comparison));
      if (at < 0) return false;
      alike.splice(at, 1);
    }
  }
  return true;
}

/**
 * The same for all that are equal, and another for most that are not: without it each is compared with each. It looks at
 * a bounded number of parts, however many times each is shared.
 */
function sketchOf(key: unknown, depth = 3): string {
  if (!isObject(key)) return String(key);
  if (depth === 0) return '';
  const kind = kindOf(key);
  if (kind === 'Date') return String(+(key as Date));
  const bytes = bytesOf(key, kind);
  const next = (part: unknown): string => sketchOf(part, depth - 1);
  const partsMax = 4 ** depth;
  if (bytes || Array.isArray(key)) {
    const list: unknown[] = (bytes ?? key) as unknown[];
    const endMax = bytes ? 128 : partsMax / 2;
    // A hole in a list is as good as undefined.
    return [list.length, ...list.slice(0, endMax), ...list.slice(-endMax)].map(next).join();
  }
  if (kind === 'Set' || kind === 'Map') {
    const collection = key as Collection;
    if (collection.size > partsMax) return String(collection.size);
    return Array.from<unknown, string>(collection, next).sort().join();
  }
  const names = Object.keys(key).sort().slice(0, partsMax);
  return names.map((name) => name + next((key as Properties)[name])).join();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function bytesOf(value: object, kind: string | undefined): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return kind === 'ArrayBuffer' ? new Uint8Array(value as ArrayBuffer) : undefined;
}
