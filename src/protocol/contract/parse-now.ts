/**
 * Parsing at once. A schema that answers later makes promises that nobody awaits, and one of them that rejects ends a
 * process: such a schema is found before it is run where that can be seen, and otherwise the promise is taken in where it
 * is made.
 */
import { kindOf, tagOf } from '../../correctable/kind.ts';
import { $ZodAsyncError, util } from 'zod/v4/core';
import * as z from 'zod/v4-mini';
import { isSchemaPart, lazyInner, type Schema, type SchemaPart } from './schema-parts.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Schemas that never end, since they make ever new ones, are looked into so far. */
const PARTS_MAX = 10_000;

const isLaterBySchema = new WeakMap<object, boolean>();
const watchedFunctions = new WeakSet<object>();
let isParsing = false;

/**
 * `safeParse`.
 *
 * @throws $ZodAsyncError for a schema that answers later; whatever a function of the schema throws
 */
export function parseNow(schema: Schema, value: unknown): z.core.util.SafeParseResult<unknown> {
  if (answersLater(schema)) throw new $ZodAsyncError();
  const isInner = isParsing;
  isParsing = true;
  try {
    return z.safeParse(schema as z.core.$ZodType, value);
  } finally {
    isParsing = isInner;
  }
}

/**
 * The schema of an application as generated code, which parses at a small share of the time: where it can be compiled, by
 * zod from 4.5 on. One that answers later fails at each operation, compiled or not.
 */
export function compiled(schema: Schema): Schema {
  return answersLater(schema) || !canCompile() ? schema : z.compile(schema as z.core.$ZodType);
}

/** Whether zod can compile, and this process may make code of texts: asked as zod itself does, which remembers the answer. */
export function canCompile(): boolean {
  return typeof z.compile === 'function' && util.allowsEval.value;
}

/**
 * Whether a schema can be seen to answer later. To be asked before the schema is compiled: what its functions give is
 * watched from then on.
 */
export function answersLater(schema: Schema): boolean {
  const known = isLaterBySchema.get(schema);
  if (known !== undefined) return known;
  let isLater = false;
  try {
    isLater = hasLaterPart(schema);
  } catch {
    // It refers to what is not there yet, or makes a default that fails: parsing will tell.
    return false;
  }
  isLaterBySchema.set(schema, isLater);
  return isLater;
}

function hasLaterPart(schema: Schema): boolean {
  const seen = new Set<unknown>([schema]);
  let isLater = false;
  // Grows while it is gone through.
  for (const value of seen) {
    if (seen.size > PARTS_MAX) break;
    if (isSchemaPart(value)) isLater = isLaterPart(value) || isLater;
    for (const inner of innerOf(value)) if (typeof inner === 'object' && inner !== null) seen.add(inner);
  }
  return isLater;
}

function innerOf(value: unknown): readonly unknown[] {
  if (isSchemaPart(value)) {
    const { def } = value._zod;
    // Each reading of a default makes one.
    return [...Object.keys(def).map((key) => (key === 'defaultValue' ? undefined : def[key])), lazyInner(value)];
  }
  if (Array.isArray(value)) return value;
  return kindOf(value as object) === 'Object' ? Object.values(value as object) : [];
}

function isLaterPart({ _zod: internals }: SchemaPart): boolean {
  const { def } = internals;
  let isLater = def['type'] === 'promise';
  for (const name of ['fn', 'transform', 'tx']) {
    const given = def[name];
    if (typeof given === 'function') isLater = !watch(def, name, given as AnyFunction) || isLater;
  }
  const { check } = internals;
  if (def['check'] === 'custom' && def['fn'] === undefined && typeof check === 'function') {
    isLater = !watch(internals, 'check', check as AnyFunction) || isLater;
  }
  return isLater || takeIn(def['defaultValue']);
}

/** Watches the function that `owner` has under `name`; says whether it may answer at once. */
function watch(owner: object, name: string, given: AnyFunction): boolean {
  if (given.constructor.name === 'AsyncFunction') return false;
  if (watchedFunctions.has(given) || Object.isFrozen(owner)) return true;
  const watched: AnyFunction = function (...args) {
    const result = given.apply(this, args);
    // Elsewhere the application may await it.
    if (isParsing && takeIn(result)) throw new $ZodAsyncError();
    return result;
  };
  watchedFunctions.add(watched);
  Object.assign(owner, { [name]: watched });
  return true;
}

/** Whether it is a promise, which may reject from now on. */
export function takeIn(value: unknown): boolean {
  // Of whatever realm.
  if (tagOf(value) !== 'Promise') return false;
  (value as Promise<unknown>).catch(() => {});
  return true;
}
