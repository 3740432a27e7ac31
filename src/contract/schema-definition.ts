/**
 * Describes schemas by a few facts that have a meaning. Other fields are internals of zod, which
 * differ within 4.x.
 */
import { isSchemaPart, getLazySchema, type SchemaPart } from './schema-parts.ts';

interface SchemaNode {
  /** The description, with a gap for each inner schema. */
  readonly description: string;
  /** The schemas of the gaps. */
  readonly inner: readonly SchemaPart[];
}

interface DescribeContext {
  /** Adds a gap for a schema. */
  describeInner(inner: SchemaPart): unknown;
  /** Returns whether one more lazy schema may be read. Some create new ones without end. */
  canInspect(): boolean;
}

type SchemaDef = Readonly<Record<string, unknown>>;

/** The maximum number of lazy schemas that are read, and their maximum nesting. */
const MAX_LAZY_SCHEMAS = 1_000;
const MAX_LAZY_DEPTH = 16;

/** A unique object. No other array begins with it. */
const GAP: readonly unknown[] = [];

/**
 * The fields of a schema's definition that have a meaning, for every kind of schema. Its kind
 * describes everything else.
 */
const SCHEMA_FIELDS =
  'coerce shape catchall element items rest keyType valueType mode discriminator left right innerType parts'.split(
    ' ',
  );
/**
 * The fields of a check that have a meaning. `pattern` and `version` of a format also count if they
 * are options.
 */
const CHECK_FIELDS =
  `value inclusive format maximum minimum size length property schema mime precision offset local
  hostname protocol normalize delimiter alg includes position prefix suffix`.split(/\s+/);

/**
 * Formats that zod makes from patterns. Their name identifies them, because zod changes the
 * patterns.
 */
const NAMED_PATTERN = /^(hostname|hex|(md5|sha1|sha256|sha384|sha512)_(hex|base64|base64url))$/;

/** A part of the pattern that `z.httpUrl()` has in each 4.x. */
const DOMAIN_PATTERN = '([a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,';

/**
 * Returns a description that equal schemas share, however many objects they consist of, including
 * recursive ones.
 */
export function getDefinition(schema: object | undefined): unknown {
  if (!isSchemaPart(schema)) return null;
  const start = simplify(schema);
  const parts = getParts(start);
  // Distinguishes parts like states of a finite automaton: first by their own kind, then by the
  // kinds that they contain, until no more parts differ. All kinds together then show how the parts
  // contain each other.
  let known: ReadonlyMap<SchemaPart, string>;
  let finer: typeof known = new Map();
  do {
    known = finer;
    finer = new Map(
      Array.from(parts, ([part, { description, inner }]) => {
        const names = inner.map((item) => known.get(item) ?? '');
        const kind = [
          known.get(part) ?? description,
          ...(isUnordered(part._zod.def) ? names.toSorted() : names),
        ];
        return [part, hashText(kind.join())];
      }),
    );
  } while (getKinds(finer).size > getKinds(known).size);
  return [finer.get(start), ...[...getKinds(finer)].toSorted()];
}

function getKinds(known: ReadonlyMap<SchemaPart, string>): ReadonlySet<string> {
  return new Set(known.values());
}

/** Returns all schemas in `schema`, each once. */
function getParts(schema: SchemaPart): ReadonlyMap<SchemaPart, SchemaNode> {
  const parts = new Map<SchemaPart, SchemaNode>();
  // The number of lazy schemas around each part. The map grows while the loop reads it.
  const depths = new Map([[schema, 0]]);
  let lazies = 0;
  for (const [part, depth] of depths) {
    const inner: SchemaPart[] = [];
    const description = describeSchema(part, {
      describeInner: (value) => {
        const item = simplify(value);
        inner.push(item);
        if (!depths.has(item)) depths.set(item, depth + (part._zod.def['type'] === 'lazy' ? 1 : 0));
        return GAP;
      },
      canInspect: () => depth < MAX_LAZY_DEPTH && lazies++ < MAX_LAZY_SCHEMAS,
    });
    parts.set(part, { description: JSON.stringify(description), inner });
  }
  return parts;
}

/**
 * A union of one option counts as that option, and an option that never fits is dropped: zod 4.0
 * builds the keys of a partial record that way.
 */
function simplify(schema: SchemaPart): SchemaPart {
  const { def } = schema._zod;
  const [only, ...others] = def['type'] === 'union' ? getOptions(def) : [];
  return only === undefined || others.length > 0 || getChecks(schema).length > 0
    ? schema
    : simplify(only);
}

function getOptions({ options }: SchemaDef): readonly SchemaPart[] {
  return (options as readonly SchemaPart[]).filter(({ _zod: { def } }) => def['type'] !== 'never');
}

/**
 * The discriminator finds the option in any order. Without one, the first option that fits counts.
 */
function isUnordered({ type, discriminator }: SchemaDef): boolean {
  return type === 'union' && discriminator !== undefined;
}

/**
 * Formats such as `z.int()` are checks of themselves, like `z.number().int()`. Descriptions for
 * readers check nothing.
 */
function getChecks(schema: SchemaPart): readonly SchemaPart[] {
  const all = (schema._zod.def['checks'] ?? []) as readonly SchemaPart[];
  const checks = all.filter(({ _zod: { def } }) => !/^(describe|meta)$/.test(String(def['check'])));
  return 'check' in schema._zod.def ? [schema, ...checks] : checks;
}

function describeSchema(schema: SchemaPart, lookup: DescribeContext): Record<string, unknown> {
  const { def, traits } = schema._zod;
  const checks = describeChecks(getChecks(schema), lookup);
  const fields = {
    type: def['type'],
    ...describeFields(def, SCHEMA_FIELDS, lookup),
    ...(checks.length > 0 && { checks }),
  };
  switch (def['type']) {
    case 'enum':
      return {
        ...fields,
        type: 'literal',
        values: describeValues(getEnumValues(def['entries'] as SchemaDef)),
      };
    case 'literal':
      return {
        ...fields,
        values: describeValues(def['values'] as readonly unknown[]),
      };
    case 'union': {
      const options = getOptions(def).map((option) => lookup.describeInner(option));
      return {
        ...fields,
        options,
        isExclusive: def['inclusive'] === false && !isUnordered(def),
      };
    }
    case 'record':
      return {
        ...fields,
        isPartial: def['partial'] === true || !hasValues(def['keyType']),
      };
    case 'optional':
      return { ...fields, isExact: traits?.has('$ZodExactOptional') ?? false };
    case 'pipe':
      return {
        ...fields,
        stages: getStages(schema).map((stage) => describeValue(stage, lookup)),
      };
    case 'lazy':
      return {
        ...fields,
        ...(lookup.canInspect() && {
          inner: describeValue(getLazySchema(schema), lookup),
        }),
      };
    default:
      return fields;
  }
}

/** Excludes the reverse entries of a numeric TypeScript `enum`, as zod does. */
function getEnumValues(entries: SchemaDef): readonly unknown[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'));
  return Object.keys(entries).flatMap((key) => (numbers.has(Number(key)) ? [] : [entries[key]]));
}

/** Returns the descriptions in one order, each once. */
function describeValues(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.map((value) => JSON.stringify(describeScalar(value))))].toSorted();
}

function hasValues(schema: unknown): boolean {
  return isSchemaPart(schema) && schema._zod.values !== undefined;
}

/** A codec is two schemas with a transform between them. Nested pipes count as one. */
function getStages(schema: SchemaPart): readonly unknown[] {
  const { type, in: from, out: to, transform } = schema._zod.def;
  if (type !== 'pipe') return [schema];
  const between = transform === undefined ? [] : ['transform'];
  return [...getStage(from as SchemaPart), ...between, ...getStage(to as SchemaPart)];
}

function getStage(schema: SchemaPart): readonly unknown[] {
  if (schema._zod.def['type'] === 'transform') return ['transform'];
  return getChecks(schema).length > 0 ? [schema] : getStages(schema);
}

/** The order of checks matters only relative to a check that may change the value. */
function describeChecks(
  checks: readonly SchemaPart[],
  lookup: DescribeContext,
): readonly unknown[] {
  const groups: string[][] = [[]];
  for (const check of checks) {
    const text = JSON.stringify(describeCheck(check, lookup));
    const { check: kind, fn } = check._zod.def;
    if (kind === 'overwrite' || (kind === 'custom' && fn === undefined)) groups.push([text], []);
    else groups.at(-1)?.push(text);
  }
  return groups.filter((group) => group.length > 0).map((group) => group.toSorted());
}

function describeCheck(check: SchemaPart, lookup: DescribeContext): Record<string, unknown> {
  const { def } = check._zod;
  const version = def['format'] === 'uuid' ? ['version'] : [];
  const pattern = hasOwnPattern(check) ? ['pattern'] : [];
  return {
    check: def['check'],
    ...describeFields(def, [...CHECK_FIELDS, ...version, ...pattern], lookup),
  };
}

/** Returns whether a format was created with another pattern than its default. */
function hasOwnPattern({ _zod: { def, constr: Made } }: SchemaPart): boolean {
  const { pattern, checks: _, ...others } = def;
  if (pattern === undefined || Made === undefined || NAMED_PATTERN.test(String(def['format'])))
    return false;
  return String(new Made(others)._zod.def['pattern']) !== String(pattern);
}

function describeValue(value: unknown, lookup: DescribeContext): unknown {
  if (isSchemaPart(value)) return lookup.describeInner(value);
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof RegExp ||
    value instanceof Date
  ) {
    return describeScalar(value);
  }
  if (Array.isArray(value)) return ['list', ...value.map((item) => describeValue(item, lookup))];
  return describeFields(value as SchemaDef, Object.keys(value), lookup);
}

/** Returns an array that begins with the type for a value that JSON cannot express. */
function describeScalar(value: unknown): unknown {
  if (value instanceof Date) return ['date', String(value.getTime())];
  if (value instanceof RegExp)
    return ['regex', value.source.includes(DOMAIN_PATTERN) ? 'domain' : String(value)];
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return [typeof value, typeof value === 'symbol' ? '' : String(value)];
}

/**
 * Describes fields in one order, with `__proto__` as an ordinary key. A flag that is false counts
 * as absent.
 */
function describeFields(
  from: SchemaDef,
  keys: readonly string[],
  lookup: DescribeContext,
): Record<string, unknown> {
  const present = keys.filter(
    (key) => from[key] !== undefined && from[key] !== null && from[key] !== false,
  );
  return Object.fromEntries(
    present.toSorted().map((key) => [key, describeValue(from[key], lookup)]),
  );
}

/** Returns 16 hexadecimal digits: two independent 32-bit FNV-1a hashes side by side. */
export function hashText(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ (unit + index), 0x811c9dc5 | 1) >>> 0;
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}
