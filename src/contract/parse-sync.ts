/**
 * Parses synchronously. A rejected promise of a schema would end the process, so asynchronous
 * schemas are refused.
 */
import { getBuiltInClass, getToStringTag } from '../correctable/built-in-class.ts';
import { $ZodAsyncError, util } from 'zod/v4/core';
import * as z from 'zod/v4-mini';
import { isSchemaPart, getLazySchema, type Schema, type SchemaPart } from './schema-parts.ts';
import { CorrectableError } from '../correctable/errors.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** The maximum number of parts that are read. Some schemas create new ones without end. */
const MAX_SCHEMA_PARTS = 10_000;

const isAsyncBySchema = new WeakMap<object, boolean>();
const watchedFunctions = new WeakSet<object>();
let isParsing = false;

/**
 * Calls `safeParse`. Throws `$ZodAsyncError` for an asynchronous schema, and rethrows what a
 * function of the schema throws.
 */
export function parseSync(schema: Schema, value: unknown): z.core.util.SafeParseResult<unknown> {
  if (isAsyncSchema(schema)) throw new $ZodAsyncError();
  const isInner = isParsing;
  isParsing = true;
  try {
    return z.safeParse(schema as z.core.$ZodType, value);
  } finally {
    isParsing = isInner;
  }
}

/**
 * Returns the schema as generated code, which parses much faster, if zod 4.5 can compile it and it
 * is not asynchronous.
 */
export function toCompiledSchema(schema: Schema): Schema {
  return isAsyncSchema(schema) || !canCompile() ? schema : z.compile(schema as z.core.$ZodType);
}

/**
 * Returns whether zod can compile and this process may generate code. It asks in the same way as
 * zod, which caches the result.
 */
export function canCompile(): boolean {
  return typeof z.compile === 'function' && util.allowsEval.value;
}

/**
 * Returns whether a schema is visibly asynchronous. Call it before compiling: from then on its
 * functions are watched.
 */
export function isAsyncSchema(schema: Schema): boolean {
  const known = isAsyncBySchema.get(schema);
  if (known !== undefined) return known;
  let isLater = false;
  try {
    isLater = hasAsyncPart(schema);
  } catch {
    // The schema refers to a later definition, or its default throws. Parsing will report that.
    return false;
  }
  isAsyncBySchema.set(schema, isLater);
  return isLater;
}

function hasAsyncPart(schema: Schema): boolean {
  const seen = new Set<unknown>([schema]);
  let isLater = false;
  // The set grows while the loop reads it.
  for (const value of seen) {
    if (seen.size > MAX_SCHEMA_PARTS) break;
    if (isSchemaPart(value)) isLater = isAsyncPart(value) || isLater;
    for (const inner of getInnerParts(value))
      if (typeof inner === 'object' && inner !== null) seen.add(inner);
  }
  return isLater;
}

/** Returns the parts of a schema, an array or a plain object, without the defaults. */
export function getInnerParts(value: unknown): readonly unknown[] {
  if (isSchemaPart(value)) {
    const { def } = value._zod;
    // Each access to a default computes a new one.
    return [
      ...Object.keys(def).map((key) => (key === 'defaultValue' ? undefined : def[key])),
      getLazySchema(value),
    ];
  }
  if (Array.isArray(value)) return value;
  return getBuiltInClass(value as object) === 'Object' ? Object.values(value as object) : [];
}

function isAsyncPart({ _zod: internals }: SchemaPart): boolean {
  const { def } = internals;
  let isLater = def['type'] === 'promise';
  for (const name of ['fn', 'transform', 'tx']) {
    const value = def[name];
    if (typeof value === 'function')
      isLater = !watchFunction(def, name, value as AnyFunction) || isLater;
  }
  const { check } = internals;
  if (def['check'] === 'custom' && def['fn'] === undefined && typeof check === 'function') {
    isLater = !watchFunction(internals, 'check', check as AnyFunction) || isLater;
  }
  return isLater || isPromiseAndHandled(def['defaultValue']);
}

/** Watches the function that `owner` has as `name`. Returns whether it may be synchronous. */
function watchFunction(owner: object, name: string, value: AnyFunction): boolean {
  if (value.constructor.name === 'AsyncFunction') return false;
  if (watchedFunctions.has(value) || Object.isFrozen(owner)) return true;
  const watched: AnyFunction = function (...args) {
    const result = value.apply(this, args);
    // Outside of parsing, the application may await the result.
    if (isParsing && isPromiseAndHandled(result)) throw new $ZodAsyncError();
    return result;
  };
  watchedFunctions.add(watched);
  Object.assign(owner, { [name]: watched });
  return true;
}

/** Returns whether the value is a promise. If so, a rejection of it is handled from now on. */
export function isPromiseAndHandled(value: unknown): boolean {
  // The tag recognizes a promise of any realm.
  if (getToStringTag(value) !== 'Promise') return false;
  (value as Promise<unknown>).catch(() => {});
  return true;
}

/**
 * Returns the result of an operation as its schema lets it out, without fields that the schema does
 * not name.
 */
export type ResultCheck = (operation: string, result: unknown) => unknown;

/** The same for the results of one operation. */
export type SchemaCheck = (result: unknown) => unknown;

export type ResultSchemas = Readonly<Record<string, { readonly result: Schema }>>;

/**
 * Creates a check of results by their schemas. The check throws `INVALID_VALUE` with the path, or
 * `UNSUPPORTED` for an asynchronous schema.
 */
export function createResultCheck(operations: ResultSchemas): ResultCheck {
  const checks = new Map(
    Object.entries(operations).map(([name, { result }]) => [name, createSchemaCheck(name, result)]),
  );
  return (operation, result) => {
    const check = checks.get(operation);
    return check === undefined ? result : check(result);
  };
}

/** Creates the check of one operation's results. It throws the same errors. */
export function createSchemaCheck(operation: string, result: Schema): SchemaCheck {
  const schema = toCompiledSchema(result);
  return (value) => {
    if (isPromiseAndHandled(value)) throw createPromiseResultError(operation);
    const parsed = safeParseResult(schema, value, operation);
    if (!parsed.success) throw createInvalidResultError(operation, parsed.error.issues[0]);
    return parsed.data;
  };
}

function safeParseResult(
  schema: Schema,
  result: unknown,
  operation: string,
): z.core.util.SafeParseResult<unknown> {
  try {
    return parseSync(schema, result);
  } catch (cause) {
    const field = 'result';
    if (cause instanceof $ZodAsyncError) {
      const message = `${operation}: the schema of its result is asynchronous. Check in the generator instead.`;
      throw new CorrectableError('UNSUPPORTED', message, { field, cause });
    }
    const message = `${operation}: the schema of its result threw; the alarms of the site say what. Correct the contract.`;
    throw new CorrectableError('INVALID_VALUE', message, { field, cause });
  }
}

function createPromiseResultError(operation: string): CorrectableError {
  const message = `The generator of '${operation}' gave a promise. It must run on its snapshot alone, without waiting.`;
  return new CorrectableError('INVALID_VALUE', message, { field: 'result' });
}

function createInvalidResultError(
  operation: string,
  issue: z.core.$ZodIssue | undefined,
): CorrectableError {
  const field = ['result', ...(issue?.path ?? []).map(String)].join('.');
  const message = `${operation}: ${field} does not fit the contract: ${issue?.message ?? 'invalid'}. Correct the service.`;
  return new CorrectableError('INVALID_VALUE', message, { field });
}
