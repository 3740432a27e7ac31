/**
 * Frozen values of the state. Bytes and dates cannot be frozen, so readers get
 * copies of values with some.
 */
import { getBuiltInClass } from '../correctable/built-in-class.ts';
import { MAX_DEPTH, isBytes, isDate, isPlain } from './value-kinds.ts';

/**
 * Lists and objects of the state with bytes or dates in them. Few: sets of all
 * of them would cost more than to look.
 */
const OBJECTS_WITH_MUTABLE_PARTS = new WeakSet<object>();

/**
 * Freezes a value of which there is no other reference, with everything in it.
 * Bytes and dates stay mutable.
 */
export function deepFreeze<T>(value: T): T {
  freezeParts(value, new Traversal());
  return value;
}

/**
 * An unchangeable copy of an author's value as the wire would make it; what
 * cannot be written stays as it is.
 */
export function freezeWireCopy<T>(value: T): T {
  return copyWithMode(value, wireMode);
}

/**
 * A copy of arguments that cannot be changed; objects of classes stay
 * themselves, except sets and maps.
 */
export function freezeArgsCopy<T>(args: T): T {
  return copyWithMode(args, inputMode);
}

/**
 * Freezes arguments of which there is no other reference. They need no copy if
 * nothing in them can be changed.
 */
export function freezeOwnArgs<T extends object>(args: T): T {
  return hasOnlyScalars(args) ? Object.freeze(args) : freezeArgsCopy(args);
}

function hasOnlyScalars(value: object): boolean {
  for (const name in value) {
    const part = value[name as never] as unknown;
    if (
      (typeof part === 'object' && part !== null) ||
      typeof part === 'function'
    )
      return false;
  }
  return true;
}

/**
 * Freezes tools that many runs share, which are functions, so that no run can
 * replace them or add properties.
 */
export function freezeFunctions<T extends object>(tools: T): T {
  for (const tool of Object.values(tools)) Object.freeze(tool);
  return Object.freeze(tools);
}

/** Returns a value of the state for code that might change it. */
export function freezeForUser<T>(value: T): T {
  return isMutable(value)
    ? copyPart(value, new CopyTraversal(sharedWireMode))
    : value;
}

/**
 * Whether code that gets the value, one of the state, could change any part of
 * it.
 */
export function isMutable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    (isBytesOrDate(value) || OBJECTS_WITH_MUTABLE_PARTS.has(value))
  );
}

/**
 * Freezes all parts. Returns whether some could not be frozen. A frozen object
 * may still have mutable parts.
 */
function freezeParts(value: unknown, lookup: Traversal): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value) && !isPlain(value)) return isBytesOrDate(value);
  if (OBJECTS_WITH_MUTABLE_PARTS.has(value)) return true;
  if (lookup.get(value) !== undefined || lookup.depth > MAX_DEPTH) return false;
  lookup.set(value, value);
  lookup.depth += 1;
  Object.freeze(value);
  let holdsChangeable = false;
  for (const part of Object.values(value))
    holdsChangeable = freezeParts(part, lookup) || holdsChangeable;
  lookup.depth -= 1;
  if (holdsChangeable) OBJECTS_WITH_MUTABLE_PARTS.add(value);
  return holdsChangeable;
}

function isBytesOrDate(value: object): value is Uint8Array | Date {
  return isBytes(value) || isDate(value);
}

/**
 * Lists and objects from this depth on are looked for among those met before:
 * what refers to itself has to end.
 */
const MIN_CYCLE_CHECK_DEPTH = 2;

/** Through one value, from the top down. */
class Traversal {
  depth = 0;
  #visited: Map<object, object> | undefined;

  get(value: object): object | undefined {
    return this.#visited?.get(value);
  }

  set(value: object, made: object): void {
    if (this.depth >= MIN_CYCLE_CHECK_DEPTH)
      (this.#visited ??= new Map()).set(value, made);
  }
}

/**
 * What is copied with its parts: what the copy begins as, and how it is filled.
 */
interface ContainerCopier {
  readonly begin: (value: object) => object;
  /** Says whether there is something in it that could not be frozen. */
  readonly fill: (copy: never, value: never, copies: CopyTraversal) => boolean;
}

const ARRAY: ContainerCopier = { begin: () => [], fill: fillArray };
const OBJECT: ContainerCopier = { begin: () => ({}), fill: fillObject };
/** Without a prototype. */
const NULL_PROTOTYPE_OBJECT: ContainerCopier = {
  begin: () => Object.create(null) as object,
  fill: fillObject,
};
const SET: ContainerCopier = { begin: () => new Set(), fill: fillSet };
const MAP: ContainerCopier = { begin: () => new Map(), fill: fillMap };
const DATE: ContainerCopier = {
  begin: (value) => new Date(value as Date),
  fill: () => false,
};

/**
 * What becomes of objects of any class, and of parts that a wire leaves out or
 * changes.
 */
interface CopyMode {
  readonly isWireForm: boolean;
  /** Whether parts that cannot be changed are shared instead of copied. */
  readonly isShared?: boolean;
  readonly getContainerCopier: (value: object) => ContainerCopier | undefined;
  /** Of what has no parts. */
  readonly copyLeaf: (value: object) => object;
}

/** As it comes out of a log: a buffer of Node is bytes. */
const wireMode: CopyMode = {
  isWireForm: true,
  getContainerCopier: getPlainRoot,
  copyLeaf: copyPlainLeaf,
};
const sharedWireMode: CopyMode = { ...wireMode, isShared: true };
const inputMode: CopyMode = {
  isWireForm: false,
  getContainerCopier: getClassRoot,
  copyLeaf: copyClassLeaf,
};

class CopyTraversal extends Traversal {
  readonly mode: CopyMode;

  constructor(manner: CopyMode) {
    super();
    this.mode = manner;
  }
}

/** Most of what is given is a scalar, of which nothing has to be copied. */
function copyWithMode<T>(value: T, manner: CopyMode): T {
  if (typeof value === 'object' && value !== null)
    return copyPart(value, new CopyTraversal(manner));
  return copyScalar(value, manner) as T;
}

function copyScalar(value: unknown, { isWireForm }: CopyMode): unknown {
  return isWireForm && value === 0 ? 0 : value;
}

function copyPart<T>(value: T, copies: CopyTraversal): T;
function copyPart(value: unknown, copies: CopyTraversal): unknown {
  if (typeof value !== 'object' || value === null)
    return copyScalar(value, copies.mode);
  if (copies.mode.isShared === true && !isMutable(value)) return value;
  const whole = copies.mode.getContainerCopier(value);
  if (whole === undefined) return copies.mode.copyLeaf(value);
  const known = copies.get(value);
  if (known !== undefined || copies.depth > MAX_DEPTH) return known ?? value;
  const copy = whole.begin(value);
  copies.set(value, copy);
  copies.depth += 1;
  const holdsChangeable = whole.fill(copy as never, value as never, copies);
  if (!copies.mode.isWireForm && hasNonIndexProperties(value))
    addNonIndexProperties(copy, value, copies);
  copies.depth -= 1;
  Object.freeze(copy);
  if (holdsChangeable) OBJECTS_WITH_MUTABLE_PARTS.add(copy);
  return copy;
}

/** What a list leaves out is `undefined`. */
function fillArray(
  copy: unknown[],
  value: readonly unknown[],
  copies: CopyTraversal,
): boolean {
  let holdsChangeable = false;
  for (let at = 0; at < value.length; at += 1) {
    const part = copyPart(value[at], copies);
    copy.push(part);
    holdsChangeable ||= isMutable(part);
  }
  return holdsChangeable;
}

function fillObject(
  copy: object,
  value: object,
  copies: CopyTraversal,
): boolean {
  let holdsChangeable = false;
  for (const name of Object.keys(value)) {
    const part = copyPart(value[name as never] as unknown, copies);
    if (part === undefined && copies.mode.isWireForm) continue;
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name as never] = part as never;
    holdsChangeable ||= isMutable(part);
  }
  return holdsChangeable;
}

function fillSet(
  copy: Set<unknown>,
  value: ReadonlySet<unknown>,
  copies: CopyTraversal,
): boolean {
  for (const item of value) copy.add(copyPart(item, copies));
  return false;
}

function fillMap(
  copy: Map<unknown, unknown>,
  value: ReadonlyMap<unknown, unknown>,
  copies: CopyTraversal,
): boolean {
  for (const [key, item] of value)
    copy.set(copyPart(key, copies), copyPart(item, copies));
  return false;
}

/**
 * Whether it has more than items, entries and own names. Of arrays only matches
 * of regular expressions are looked at.
 */
function hasNonIndexProperties(value: object): boolean {
  if (Array.isArray(value)) return Object.hasOwn(value, 'groups');
  const openNames = isPlain(value) ? Object.keys(value).length : 0;
  return (
    Object.getOwnPropertyNames(value).length > openNames ||
    Object.getOwnPropertySymbols(value).length > 0
  );
}

/** Symbols, names that are hidden, and names of what is no plain object. */
function addNonIndexProperties(
  copy: object,
  value: object,
  copies: CopyTraversal,
): void {
  for (const key of Reflect.ownKeys(value)) {
    if (Object.hasOwn(copy, key)) continue;
    const enumerable = Object.prototype.propertyIsEnumerable.call(value, key);
    Object.defineProperty(copy, key, {
      value: copyPart(value[key as never] as unknown, copies),
      enumerable,
    });
  }
}

function getPlainRoot(value: object): ContainerCopier | undefined {
  if (Array.isArray(value)) return ARRAY;
  return isPlain(value) ? OBJECT : undefined;
}

/**
 * What extends a built-in class may have methods and a state that no copy would
 * have: it is none of these.
 */
function getClassRoot(value: object): ContainerCopier | undefined {
  switch (getBuiltInClass(value) ?? '') {
    case 'Object':
    case 'null':
      return Object.getPrototypeOf(value) === null
        ? NULL_PROTOTYPE_OBJECT
        : OBJECT;
    case 'Array':
      return ARRAY;
    case 'Set':
      return SET;
    case 'Map':
      return MAP;
    case 'Date':
      return DATE;
    default:
      return undefined;
  }
}

function copyPlainLeaf(value: object): object {
  // Not by `slice`: that of Node's buffers shares the memory.
  if (isBytes(value)) return new Uint8Array(value);
  return isDate(value) ? new Date(value) : value;
}

function copyClassLeaf(value: object): object {
  if (getBuiltInClass(value) !== 'Uint8Array') return value;
  const copy = copyPlainLeaf(value);
  return Buffer.isBuffer(value)
    ? (Object.setPrototypeOf(copy, Buffer.prototype) as object)
    : copy;
}
