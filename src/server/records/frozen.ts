/**
 * Values that are in the state of sites: nobody changes them, least of all a generator that has read them. Bytes and dates
 * cannot be frozen, so that readers get copies of what has some in it.
 */
import { DEPTH_MAX } from '../../protocol/codec/codec.ts';
import { isPlain } from '../../protocol/codec/value-domain.ts';

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
 * made of them stays of its class; sets and maps are copies, objects of other classes themselves.
 */
export function keptArgs<T>(args: T): T {
  return copied(args, asGiven);
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
  return value instanceof Uint8Array || value instanceof Date;
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

/** What becomes of what is neither a list nor a plain object, and of parts that a wire leaves out or changes. */
interface Manner {
  readonly isOfTheWire: boolean;
  /** Whether parts that nobody can change are no copies. */
  readonly isShared?: boolean;
  readonly leaf: (value: object, copies: Copies) => object;
}

/** As it comes out of a log: a buffer of Node is bytes. */
const asOnTheWire: Manner = { isOfTheWire: true, leaf: plainLeaf };
const asShared: Manner = { ...asOnTheWire, isShared: true };
const asGiven: Manner = { isOfTheWire: false, leaf: leafOfItsClass };

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
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return copies.manner.leaf(value, copies);
  const known = copies.get(value);
  if (known !== undefined || copies.depth > DEPTH_MAX) return known ?? value;
  const copy: object = isList ? [] : {};
  copies.set(value, copy);
  copies.depth += 1;
  const holdsChangeable = isList ? fillList(copy as unknown[], value, copies) : fillObject(copy, value, copies);
  copies.depth -= 1;
  Object.freeze(copy);
  if (holdsChangeable) WITH_CHANGEABLE.add(copy);
  return copy;
}

/** Both say whether there is something in it that could not be frozen. What a list leaves out is `undefined`. */
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

function plainLeaf(value: object): object {
  // Not by `slice`: that of Node's buffers shares the memory.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  return value instanceof Date ? new Date(value) : value;
}

function leafOfItsClass(value: object, copies: Copies): object {
  if (value instanceof Set) return new Set([...value].map((item: unknown) => copyOf(item, copies)));
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)];
    return new Map(entries.map(([key, item]) => [copyOf(key, copies), copyOf(item, copies)]));
  }
  const copy = plainLeaf(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Object.getPrototypeOf(copy) !== prototype) Object.setPrototypeOf(copy, prototype as object);
  return copy;
}
