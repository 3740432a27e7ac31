/**
 * Freezes values of the state. Bytes and dates cannot be frozen, so readers get copies of values
 * with bytes or dates.
 */
import { getBuiltInClass } from '../correctable/built-in-class.ts';
import { MAX_DEPTH, isBytes, isDate, isPlain } from './value-kinds.ts';

/**
 * Arrays and objects of the state with bytes or dates in them. They are few. A set of all other
 * objects would cost more than to search them.
 */
const OBJECTS_WITH_MUTABLE_PARTS = new WeakSet<object>();

/**
 * Freezes a value to which there is no other reference, with all its parts. Bytes and dates stay
 * mutable.
 */
export function deepFreeze<T>(value: T): T {
  freezeParts(value, new Traversal());
  return value;
}

/**
 * Returns a frozen copy of a value that the code of a service has created, as it would be after
 * encoding and decoding. Parts that cannot be encoded stay unchanged.
 */
export function freezeWireCopy<T>(value: T): T {
  return copyWithMode(value, wireMode);
}

/** Returns a frozen copy of arguments. Objects of classes are shared, except sets and maps. */
export function freezeArgsCopy<T>(args: T): T {
  return copyWithMode(args, inputMode);
}

/**
 * Freezes arguments to which there is no other reference. They need no copy if all their parts can
 * be frozen.
 */
export function freezeOwnArgs<T extends object>(args: T): T {
  return hasOnlyScalars(args) ? Object.freeze(args) : freezeArgsCopy(args);
}

function hasOnlyScalars(value: object): boolean {
  for (const name in value) {
    const part = value[name as never] as unknown;
    if ((typeof part === 'object' && part !== null) || typeof part === 'function') return false;
  }
  return true;
}

/** Freezes functions that many runs share, so that no run can replace them or add properties. */
export function freezeFunctions<T extends object>(tools: T): T {
  for (const tool of Object.values(tools)) Object.freeze(tool);
  return Object.freeze(tools);
}

/** Returns a value of the state for code that might change it. Mutable values are copied. */
export function freezeForUser<T>(value: T): T {
  return isMutable(value) ? copyPart(value, new CopyTraversal(sharedWireMode)) : value;
}

/** Returns whether code that gets this value of the state could change any part of it. */
export function isMutable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    (isBytesOrDate(value) || OBJECTS_WITH_MUTABLE_PARTS.has(value))
  );
}

/**
 * Freezes all parts. Returns whether some could not be frozen. An object that is frozen already may
 * still have mutable parts.
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

/** Arrays and objects from this depth on are compared with their ancestors, so that cycles end. */
const MIN_CYCLE_CHECK_DEPTH = 2;

/** Visits one value from the top down. */
class Traversal {
  depth = 0;
  #visited: Map<object, object> | undefined;

  get(value: object): object | undefined {
    return this.#visited?.get(value);
  }

  set(value: object, made: object): void {
    if (this.depth >= MIN_CYCLE_CHECK_DEPTH) (this.#visited ??= new Map()).set(value, made);
  }
}

/** Copies objects of one kind: how the copy is created, and how it is filled. */
interface ContainerCopier {
  readonly begin: (value: object) => object;
  /** Fills the copy. Returns whether a part could not be frozen. */
  readonly fill: (copy: never, value: never, copies: CopyTraversal) => boolean;
}

const ARRAY: ContainerCopier = { begin: () => [], fill: fillArray };
const OBJECT: ContainerCopier = { begin: () => ({}), fill: fillObject };
/** Copies objects without a prototype. */
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

/** How to copy objects of classes, and parts that a wire leaves out or changes. */
interface CopyMode {
  readonly isWireForm: boolean;
  /** Whether frozen parts are shared instead of copied. */
  readonly isShared?: boolean;
  readonly getContainerCopier: (value: object) => ContainerCopier | undefined;
  /** Copies an object that has no parts. */
  readonly copyLeaf: (value: object) => object;
}

/** Copies like a log: a buffer of Node becomes bytes. */
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

/** Most values are scalars, which need no copy. */
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
  if (typeof value !== 'object' || value === null) return copyScalar(value, copies.mode);
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

/** A hole in an array becomes `undefined`. */
function fillArray(copy: unknown[], value: readonly unknown[], copies: CopyTraversal): boolean {
  let holdsChangeable = false;
  for (let at = 0; at < value.length; at += 1) {
    const part = copyPart(value[at], copies);
    copy.push(part);
    holdsChangeable ||= isMutable(part);
  }
  return holdsChangeable;
}

function fillObject(copy: object, value: object, copies: CopyTraversal): boolean {
  let holdsChangeable = false;
  for (const name of Object.keys(value)) {
    const part = copyPart(value[name as never] as unknown, copies);
    if (part === undefined && copies.mode.isWireForm) continue;
    if (name === '__proto__') Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name as never] = part as never;
    holdsChangeable ||= isMutable(part);
  }
  return holdsChangeable;
}

function fillSet(copy: Set<unknown>, value: ReadonlySet<unknown>, copies: CopyTraversal): boolean {
  for (const item of value) copy.add(copyPart(item, copies));
  return false;
}

function fillMap(
  copy: Map<unknown, unknown>,
  value: ReadonlyMap<unknown, unknown>,
  copies: CopyTraversal,
): boolean {
  for (const [key, item] of value) copy.set(copyPart(key, copies), copyPart(item, copies));
  return false;
}

/**
 * Returns whether an object has more than items, entries and own names. Of arrays, only matches of
 * regular expressions are checked.
 */
function hasNonIndexProperties(value: object): boolean {
  if (Array.isArray(value)) return Object.hasOwn(value, 'groups');
  const openNames = isPlain(value) ? Object.keys(value).length : 0;
  return (
    Object.getOwnPropertyNames(value).length > openNames ||
    Object.getOwnPropertySymbols(value).length > 0
  );
}

/** Copies symbols, hidden names, and names of objects that are not plain. */
function addNonIndexProperties(copy: object, value: object, copies: CopyTraversal): void {
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
 * Returns the copier of a built-in class. A class that extends one may have methods and a state
 * that no copy would have, so it has none.
 */
function getClassRoot(value: object): ContainerCopier | undefined {
  switch (getBuiltInClass(value) ?? '') {
    case 'Object':
      return Object.getPrototypeOf(value) === null ? NULL_PROTOTYPE_OBJECT : OBJECT;
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
  // `slice` is not used, because that of Node's buffers shares the memory.
  if (isBytes(value)) return new Uint8Array(value);
  return isDate(value) ? new Date(value) : value;
}

function copyClassLeaf(value: object): object {
  if (getBuiltInClass(value) !== 'Uint8Array') return value;
  const copy = copyPlainLeaf(value);
  return Buffer.isBuffer(value) ? (Object.setPrototypeOf(copy, Buffer.prototype) as object) : copy;
}
