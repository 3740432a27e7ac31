/**
 * Values that are in the state of sites: nobody changes them, least of all a generator that has read them. Bytes and dates
 * cannot be frozen, so that readers get copies of what has some in it.
 */
import { kindOf } from '../correctable/kind.ts';
import { DEPTH_MAX, isBytes, isDate, isPlain } from './kinds.ts';

/** Lists and objects of the state with bytes or dates in them. Few: sets of all of them would cost more than to look. */
const WITH_CHANGEABLE = new WeakSet<object>();

/** A value that is nobody else's, with all that is in it, as something that cannot be changed: but for bytes and dates. */
export function frozen<T>(value: T): T {
  freeze(value, new Walk());
  return value;
}

/**
 * What the wire would make of a value that an author gave, who may still have it: a copy that cannot be changed, the same
 * at all sites and after a restart. Each part is read once, whatever a getter says later. What cannot be written down is
 * left as it is, and refused by those who look at that.
 */
export function kept<T>(value: T): T {
  return copied(value, asOnTheWire);
}

/**
 * Arguments for one who may change what he is given, and gets them again: a copy that cannot be changed. What a schema has
 * made of them stays of its class; sets and maps are copies, objects of other classes themselves, those included that
 * extend a class of the language.
 */
export function keptArgs<T>(args: T): T {
  return copied(args, asGiven);
}

/** The same of an object that nobody else has: it need be no copy where nothing in it can be changed. */
export function keptOwnArgs<T extends object>(args: T): T {
  return holdsScalarsAlone(args) ? Object.freeze(args) : keptArgs(args);
}

function holdsScalarsAlone(value: object): boolean {
  for (const name in value) {
    const part = value[name as never] as unknown;
    if ((typeof part === 'object' && part !== null) || typeof part === 'function') return false;
  }
  return true;
}

/** Tools that many runs share, which are functions: nobody puts others in their place, nor keeps anything by them. */
export function frozenTools<T extends object>(tools: T): T {
  for (const tool of Object.values(tools)) Object.freeze(tool);
  return Object.freeze(tools);
}

/** A value of the state, for somebody who might change it. */
export function handedOut<T>(value: T): T {
  return isChangeable(value) ? copyOf(value, new Copies(asShared)) : value;
}

/** Whether somebody who has the value, one of the state, could change something of it. */
export function isChangeable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (isBytesOrDate(value) || WITH_CHANGEABLE.has(value));
}

/** Says whether there is something that could not be frozen. That somebody froze an object says nothing of its parts. */
function freeze(value: unknown, walk: Walk): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value) && !isPlain(value)) return isBytesOrDate(value);
  if (WITH_CHANGEABLE.has(value)) return true;
  if (walk.get(value) !== undefined || walk.depth > DEPTH_MAX) return false;
  walk.set(value, value);
  walk.depth += 1;
  Object.freeze(value);
  let holdsChangeable = false;
  for (const part of Object.values(value)) holdsChangeable = freeze(part, walk) || holdsChangeable;
  walk.depth -= 1;
  if (holdsChangeable) WITH_CHANGEABLE.add(value);
  return holdsChangeable;
}

function isBytesOrDate(value: object): value is Uint8Array | Date {
  return isBytes(value) || isDate(value);
}

/** Lists and objects from this depth on are looked for among those met before: what refers to itself has to end. */
const LINKED_FROM = 2;

/** Through one value, from the top down. */
class Walk {
  depth = 0;
  #met: Map<object, object> | undefined;

  get(value: object): object | undefined {
    return this.#met?.get(value);
  }

  set(value: object, made: object): void {
    if (this.depth >= LINKED_FROM) (this.#met ??= new Map()).set(value, made);
  }
}

/** What is copied with its parts: what the copy begins as, and how it is filled. */
interface Whole {
  readonly begin: (value: object) => object;
  /** Says whether there is something in it that could not be frozen. */
  readonly fill: (copy: never, value: never, copies: Copies) => boolean;
}

const LIST: Whole = { begin: () => [], fill: fillList };
const OBJECT: Whole = { begin: () => ({}), fill: fillObject };
/** Without a prototype. */
const OTHER_OBJECT: Whole = {
  begin: () => Object.create(null) as object,
  fill: fillObject,
};
const SET: Whole = { begin: () => new Set(), fill: fillSet };
const MAP: Whole = { begin: () => new Map(), fill: fillMap };
const DATE: Whole = { begin: (value) => new Date(value as Date), fill: () => false };

/** What becomes of objects of any class, and of parts that a wire leaves out or changes. */
interface Manner {
  readonly isOfTheWire: boolean;
  /** Whether parts that nobody can change are no copies. */
  readonly isShared?: boolean;
  readonly wholeOf: (value: object) => Whole | undefined;
  /** Of what has no parts. */
  readonly leaf: (value: object) => object;
}

/** As it comes out of a log: a buffer of Node is bytes. */
const asOnTheWire: Manner = { isOfTheWire: true, wholeOf: plainWhole, leaf: plainLeaf };
const asShared: Manner = { ...asOnTheWire, isShared: true };
const asGiven: Manner = { isOfTheWire: false, wholeOf: wholeOfItsClass, leaf: leafOfItsClass };

class Copies extends Walk {
  readonly manner: Manner;

  constructor(manner: Manner) {
    super();
    this.manner = manner;
  }
}

/** Most of what is given is a scalar, of which nothing has to be copied. */
function copied<T>(value: T, manner: Manner): T {
  if (typeof value === 'object' && value !== null) return copyOf(value, new Copies(manner));
  return scalarOf(value, manner) as T;
}

function scalarOf(value: unknown, { isOfTheWire }: Manner): unknown {
  return isOfTheWire && value === 0 ? 0 : value;
}

function copyOf<T>(value: T, copies: Copies): T;
function copyOf(value: unknown, copies: Copies): unknown {
  if (typeof value !== 'object' || value === null) return scalarOf(value, copies.manner);
  if (copies.manner.isShared === true && !isChangeable(value)) return value;
  const whole = copies.manner.wholeOf(value);
  if (whole === undefined) return copies.manner.leaf(value);
  const known = copies.get(value);
  if (known !== undefined || copies.depth > DEPTH_MAX) return known ?? value;
  const copy = whole.begin(value);
  copies.set(value, copy);
  copies.depth += 1;
  const holdsChangeable = whole.fill(copy as never, value as never, copies);
  if (!copies.manner.isOfTheWire && hasMore(value)) addRest(copy, value, copies);
  copies.depth -= 1;
  Object.freeze(copy);
  if (holdsChangeable) WITH_CHANGEABLE.add(copy);
  return copy;
}

/** What a list leaves out is `undefined`. */
function fillList(copy: unknown[], value: readonly unknown[], copies: Copies): boolean {
  let holdsChangeable = false;
  for (let at = 0; at < value.length; at += 1) {
    const part = copyOf(value[at], copies);
    copy.push(part);
    holdsChangeable ||= isChangeable(part);
  }
  return holdsChangeable;
}

function fillObject(copy: object, value: object, copies: Copies): boolean {
  let holdsChangeable = false;
  for (const name of Object.keys(value)) {
    const part = copyOf(value[name as never] as unknown, copies);
    if (part === undefined && copies.manner.isOfTheWire) continue;
    if (name === '__proto__') Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name as never] = part as never;
    holdsChangeable ||= isChangeable(part);
  }
  return holdsChangeable;
}

function fillSet(copy: Set<unknown>, value: ReadonlySet<unknown>, copies: Copies): boolean {
  for (const item of value) copy.add(copyOf(item, copies));
  return false;
}

function fillMap(copy: Map<unknown, unknown>, value: ReadonlyMap<unknown, unknown>, copies: Copies): boolean {
  for (const [key, item] of value) copy.set(copyOf(key, copies), copyOf(item, copies));
  return false;
}

/**
 * Whether there is more to it than items, entries and open names. Of lists, a match of a regular expression alone is known
 * to have names: to look through those of all lists would cost more than to copy them.
 */
function hasMore(value: object): boolean {
  if (Array.isArray(value)) return Object.hasOwn(value, 'groups');
  const openNames = isPlain(value) ? Object.keys(value).length : 0;
  return Object.getOwnPropertyNames(value).length > openNames || Object.getOwnPropertySymbols(value).length > 0;
}

/** Symbols, names that are hidden, and names of what is no plain object. */
function addRest(copy: object, value: object, copies: Copies): void {
  for (const key of Reflect.ownKeys(value)) {
    if (Object.hasOwn(copy, key)) continue;
    const enumerable = Object.prototype.propertyIsEnumerable.call(value, key);
    Object.defineProperty(copy, key, { value: copyOf(value[key as never] as unknown, copies), enumerable });
  }
}

function plainWhole(value: object): Whole | undefined {
  if (Array.isArray(value)) return LIST;
  return isPlain(value) ? OBJECT : undefined;
}

/** What extends a built-in class may have methods and a state that no copy would have: it is none of these. */
function wholeOfItsClass(value: object): Whole | undefined {
  switch (kindOf(value) ?? '') {
    case 'Object':
    case 'null':
      return Object.getPrototypeOf(value) === null ? OTHER_OBJECT : OBJECT;
    case 'Array':
      return LIST;
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

function plainLeaf(value: object): object {
  // Not by `slice`: that of Node's buffers shares the memory.
  if (isBytes(value)) return new Uint8Array(value);
  return isDate(value) ? new Date(value) : value;
}

function leafOfItsClass(value: object): object {
  if (kindOf(value) !== 'Uint8Array') return value;
  const copy = plainLeaf(value);
  return Buffer.isBuffer(value) ? (Object.setPrototypeOf(copy, Buffer.prototype) as object) : copy;
}
