/**
 * Removes the fields from arguments that their schema adds by itself. So a caller may include a
 * default or leave it out and gets the same arguments. The parsed arguments were rejected for this:
 * a default like the present time differs from call to call, and then each retry would be another
 * operation.
 */
import { toCanonicalString } from '../../../values/canonical-string.ts';
import { getBuiltInClass } from '../../../correctable/built-in-class.ts';
import { getInnerParts, parseSync } from '../../../contract/parse-sync.ts';
import { getLazySchema, isSchemaPart, type Schema } from '../../../contract/schema-parts.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The first default of a field, as text. `undefined` for a field without one. */
const firstDefaults = new WeakMap<Schema, string | undefined>();
const knownSchemas = new WeakSet<Schema>();

const serialize = (value: unknown): string | undefined =>
  toCanonicalString(value, { isLoose: true });

/**
 * Returns the text of the parsed `value`. `undefined` if the schema rejects it or returns nothing.
 */
function serializeParsed(schema: Schema, value: unknown): string | undefined {
  const result = parseSync(schema, value);
  return result.success && result.data !== undefined ? serialize(result.data) : undefined;
}

/**
 * Reads the defaults of a schema, so that a default that changes is recognized later. Call it some
 * time before the first arguments: a caller may pass the default of that moment.
 */
export function rememberDefaults(schema: Schema): void {
  if (knownSchemas.has(schema)) return;
  knownSchemas.add(schema);
  try {
    [schema, ...findFields(schema)].forEach(getDefault);
  } catch {
    // The schema refers to a later definition, or its default throws. Parsing will report that.
  }
}

/** Returns the fields of all objects in `schema`. */
function findFields(schema: Schema): Schema[] {
  const seen = new Set<unknown>([schema]);
  const fields: Schema[] = [];
  // The set grows while the loop reads it.
  for (const part of seen) {
    if (seen.size > MAX_PARTS) break;
    if (isSchemaPart(part) && part._zod.def['type'] === 'object')
      fields.push(...Object.values(part._zod.def['shape'] as Record<string, Schema>));
    for (const inner of getInnerParts(part))
      if (typeof inner === 'object' && inner !== null) seen.add(inner);
  }
  return fields;
}

/** The maximum number of parts that are read. Some schemas create new ones without end. */
const MAX_PARTS = 10_000;

/** Returns the default of a field, unless it has changed since it was first read. */
function getDefault(field: Schema): string | undefined {
  const present = serializeParsed(field, undefined);
  if (!firstDefaults.has(field)) firstDefaults.set(field, present);
  return present === firstDefaults.get(field) ? present : undefined;
}

function isDefault(field: Schema, value: unknown): boolean {
  const present = getDefault(field);
  return present !== undefined && serializeParsed(field, value) === present;
}

/**
 * Returns `args` without the fields that `schema` would add with the same value. Values that cannot
 * be read stay unchanged.
 */
export function omitDefaults(schema: Schema, args: unknown): unknown {
  try {
    return isDefault(schema, args) ? undefined : omitIn(schema, args);
  } catch {
    // A getter or a function of the schema has thrown, or the value refers to itself.
    return args;
  }
}

function omitIn(schema: unknown, value: unknown): unknown {
  if (!isSchemaPart(schema) || typeof value !== 'object' || value === null) return value;
  const { def } = schema._zod;
  switch (def['type']) {
    case 'object':
      return omitFields(def['shape'] as Readonly<Record<string, Schema>>, value);
    case 'array':
      return Array.isArray(value) ? value.map((item) => omitIn(def['element'], item)) : value;
    case 'tuple': {
      const items = def['items'] as readonly Schema[];
      return Array.isArray(value)
        ? value.map((item, at) => omitIn(items[at] ?? def['rest'], item))
        : value;
    }
    case 'record':
      return mapFields(value, (item) => omitIn(def['valueType'], item));
    case 'union':
      return omitIn(findOption(def['options'] as readonly Schema[], value), value);
    case 'intersection':
      return omitIn(def['right'], omitIn(def['left'], value));
    case 'pipe':
      return omitIn(def['in'], value);
    case 'lazy':
      return omitIn(getLazySchema(schema), value);
    default:
      // `optional`, `nullable`, `readonly` and others wrap one schema.
      return omitIn(def['innerType'], value);
  }
}

function findOption(options: readonly Schema[], value: unknown): Schema | undefined {
  return options.find((option) => parseSync(option, value).success);
}

function omitFields(shape: Readonly<Record<string, Schema>>, value: object): unknown {
  return mapFields(value, (item, name) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return field !== undefined && isDefault(field, item) ? undefined : omitIn(field, item);
  });
}

/** A field that becomes `undefined` counts as missing. */
function mapFields(value: object, map: (item: unknown, name: string) => unknown): unknown {
  if (getBuiltInClass(value) !== 'Object') return value;
  const entries = Object.entries(value as Fields);
  return Object.fromEntries(entries.map(([name, item]) => [name, map(item, name)]));
}
