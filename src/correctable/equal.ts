/** Structural equality of values: what "the same value" means unless an operation says otherwise (C7). */
import { kindOf } from './kind.ts';

/** After so many pairs, assumptions are kept: cycles end, and what is shared is compared once. Few values need them. */
const FREE_PAIRS_MAX = 10_000;

type Properties = Readonly<Record<string, unknown>>;
type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/**
 * Whether two values are structurally equal: primitives by `Object.is`; plain objects, arrays, `Date`, `Map`, `Set`,
 * array buffers and typed arrays by content, whatever realm they come from, and so is Node's `Buffer`. Other objects, whose
 * state may be private, only by identity: those of classes, also of such as extend one of these.
 *
 * @example
 * structurallyEqual({ tags: new Set(['a']) }, { tags: new Set(['a']) }); // true
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  let free = FREE_PAIRS_MAX;
  /** Of an object, those that it equals if all that is still to be compared does. */
  const assumed = new Map<object, Set<object>>();
  /** Takes back each assumption, in the order in which they came. */
  const undos: (() => void)[] = [];
  /** The objects that are still to be compared, in pairs: a stack of our own, since that of the engine has an end. */
  let pairs: object[];

  /** Whether `left` and `right`, and all that they lead to, are equal. If not, what was assumed on the way is forgotten. */
  const areEqual = (left: object, right: object): boolean => {
    const outer = pairs;
    const undoFrom = undos.length;
    pairs = [left, right];
    let isEqual = true;
    while (isEqual && pairs.length > 0) isEqual = look(pairs.pop()!, pairs.pop()!);
    if (!isEqual) for (const undo of undos.splice(undoFrom)) undo();
    pairs = outer;
    return isEqual;
  };

  /** Whether both are equal if the pairs that it adds are. */
  const look = (left: object, right: object): boolean => {
    const kind = kindOf(left);
    if (!kind || kind !== kindOf(right)) return false;
    if (--free < 0 && isAssumed(left, right)) return true;
    if (kind === 'Object' || kind === 'null') return lookAtProperties(left as Properties, right as Properties);
    if (kind === 'Date') return compare(+(left as Date), +(right as Date));
    if (isCollection(left, kind)) return lookAtItems(left, right as Collection, kind === 'Map');
    const [list, other] = [listOf(left, kind), listOf(right, kind)];
    if (!list || list.length !== other!.length) return false;
    for (let at = 0; at < list.length; at++) if (!compare(list[at], other![at])) return false;
    return true;
  };

  /** Whether both are equal, as far as they are no objects: those are compared later. */
  const compare = (left: unknown, right: unknown): boolean =>
    Object.is(left, right) || (isObject(left) && isObject(right) && pairs.push(left, right) > 0);

  /** Neither has inherited properties that count: `for in` is the fastest way to see the own ones. */
  const lookAtProperties = (left: Properties, right: Properties): boolean => {
    let surplus = 0;
    for (const key in left) {
      const value = right[key];
      // What plain objects inherit are functions and their prototype: to ask of each key would cost more.
      const mayBeInherited = value === undefined || key === '__proto__' || typeof value === 'function';
      if ((mayBeInherited && !Object.hasOwn(right, key)) || !compare(left[key], value)) return false;
      surplus--;
    }
    for (const _key in right) surplus++;
    return surplus === 0;
  };

  /** Keys and items that are objects may have an equal instead of themselves on the other side. */
  const lookAtItems = (left: Collection, right: Collection, isMap: boolean): boolean => {
    // Without a prototype: a sketch may have any name.
    const strangers = Object.create(null) as Record<string, object[]>;
    const keyOf = (item: unknown): unknown => (isMap ? (item as unknown[])[0] : item);
    const alikeOf = (item: unknown): unknown[] => (strangers[sketchOf(keyOf(item))] ??= []);
    for (const item of right) if (!left.has(keyOf(item))) alikeOf(item).push(item);
    for (const item of left) {
      const key = keyOf(item);
      if (right.has(key)) {
        if (isMap && !compare((item as unknown[])[1], (right as Map<unknown, unknown>).get(key))) return false;
      } else {
        const alike = alikeOf(item);
        // The only one left is no choice: it may be compared later, however deep such sets lie in each other.
        const isEqual = alike.length > 1 ? (areEqual as typeof compare) : compare;
        const at = alike.findIndex((other) => isEqual(item, other));
        if (at < 0) return false;
        alike.splice(at, 1);
      }
    }
    return left.size === right.size;
  };

  /** Whether both are equal if all that is still to be compared is; from now on that is assumed. */
  const isAssumed = (left: object, right: object): boolean => {
    const equals = assumed.get(left) ?? new Set();
    if (equals.has(right)) return true;
    assumed.set(left, equals.add(right));
    undos.push(() => equals.delete(right));
    return false;
  };

  return areEqual(a, b);
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
  if (isCollection(value, kind)) return value.size > partsMax ? '' : Array.from<unknown, string>(value, next).sort().join();
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
