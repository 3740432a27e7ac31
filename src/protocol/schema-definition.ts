/**
 * Schemas as plain data, read off their own definitions: equal data for schemas that are defined alike. What functions do
 * cannot be seen: that there is one can.
 */
import { computedDefault } from './computed-default.ts';
import { isSchemaPart, lazyInner, type SchemaPart } from './schema-parts.ts';

/** Where a description is, and how much of what makes ever new schemas it may still look into. */
interface Walk {
  /** What encloses the value: a schema that contains itself refers back by distance. */
  readonly path: readonly object[];
  readonly lazies: { left: number };
}

/** Lazy schemas that are looked into: so many, and so deep in each other. */
const LAZIES_MAX = 1_000;
const LAZY_DEPTH_MAX = 16;

/**
 * The definition of a schema, or of none. Whatever JSON has no form for, or another one, is a list that begins with what
 * it is; so are lists themselves.
 */
export function definitionOf(schema: object | undefined): unknown {
  return describe(schema, { path: [], lazies: { left: LAZIES_MAX } });
}

function describe(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : ['number', String(value)];
    case 'bigint':
      return ['bigint', String(value)];
    case 'object':
      return value === null ? null : describeObject(value, walk);
    case 'string':
    case 'boolean':
      return value;
    case 'undefined':
    case 'function':
    case 'symbol':
      return [typeof value];
  }
}

function describeObject(value: object, { path, lazies }: Walk): unknown {
  if (value instanceof RegExp) return ['regex', String(value)];
  if (value instanceof Date) return ['date', String(value.getTime())];
  const enclosing = path.indexOf(value);
  if (enclosing >= 0) return ['^', path.length - enclosing];
  const inner = { path: [...path, value], lazies };
  const list = (name: string, values: Iterable<unknown>): unknown => [
    name,
    ...Array.from(values, (each) => describe(each, inner)),
  ];
  if (Array.isArray(value)) return list('array', value);
  if (value instanceof Set) return list('set', value);
  if (value instanceof Map) return list('map', value);
  if (value instanceof Uint8Array) return list('bytes', value);
  if (isSchemaPart(value)) return describeSchema(value, inner);
  return fromEntries(Object.entries(value).map(([key, field]) => [key, describe(field, inner)]));
}

/** Formats such as `z.int()` are checks of themselves: described as `z.number().int()`. */
function describeSchema(schema: SchemaPart, walk: Walk): unknown {
  const { def } = schema._zod;
  const checks = ((def['checks'] ?? []) as readonly SchemaPart[]).map((check) => describeDef(check, walk));
  const own = describeDef(schema, walk);
  if ('check' in own) return { type: own['type'], checks: [own, ...checks] };
  return checks.length === 0 ? own : { ...own, checks };
}

/** Not a part of what is checked: what is said of a misfit. */
const UNSEEN: ReadonlySet<string> = new Set(['error', 'abort', 'checks']);

function describeDef(schema: SchemaPart, walk: Walk): Record<string, unknown> {
  const { def } = schema._zod;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(def)) {
    // What begins so is kept there while parsing.
    if (UNSEEN.has(key) || key.startsWith('_')) continue;
    const value = key === 'defaultValue' ? undefined : def[key];
    if (value !== undefined) entries.push([key, describe(value, walk)]);
  }
  if ('defaultValue' in def) entries.push(['defaultValue', describeDefault(def, walk)]);
  if (def['type'] === 'lazy') entries.push(['inner', describeLazy(schema, walk)]);
  return fromEntries(entries);
}

function describeDefault(def: Record<string, unknown>, walk: Walk): unknown {
  return computedDefault(def, (value) => describe(value, walk)) ?? ['computed'];
}

function describeLazy(schema: SchemaPart, walk: Walk): unknown {
  const depth = walk.path.filter((each) => isSchemaPart(each) && each._zod.def['type'] === 'lazy').length;
  if (walk.lazies.left === 0 || depth > LAZY_DEPTH_MAX) return ['lazy'];
  walk.lazies.left -= 1;
  return describe(lazyInner(schema), walk);
}

/** Keys in one order, and `__proto__` one like any other. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
