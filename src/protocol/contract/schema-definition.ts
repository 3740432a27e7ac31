/**
 * What schemas are, read off their own definitions. What functions do cannot be seen: that there is one can.
 */
import { fingerprint } from './fingerprint.ts';
import { isSchemaPart, lazyInner, type SchemaPart } from './schema-parts.ts';

/** A schema by itself. */
interface Part {
  /** With a gap for each schema in it. */
  readonly text: string;
  /** What belongs into the gaps. */
  readonly inner: readonly SchemaPart[];
}

/** Where a description is. */
interface Walk {
  /** Leaves a gap for a schema. */
  gap(inner: SchemaPart): unknown;
  /** Whether one more lazy schema may be looked into: some make ever new ones. */
  mayLook(): boolean;
}

/** Lazy schemas that are looked into: so many, and so deep in each other. */
const LAZIES_MAX = 1_000;
const LAZY_DEPTH_MAX = 16;

/** No list begins with nothing else. */
const GAP: readonly unknown[] = [];

/**
 * What there is to say of a schema, or of none: the same of schemas that are defined alike, however many objects they are
 * made of, and however often these contain each other.
 */
export function definitionOf(schema: object | undefined): unknown {
  if (!isSchemaPart(schema)) return null;
  const parts = partsOf(schema);
  // As states of a finite automaton are told apart: by what they are themselves, then by what is in them, then by what is
  // in that, until this tells no more apart. All kinds together then say how they contain each other.
  let known: ReadonlyMap<SchemaPart, string>;
  let finer: typeof known = new Map();
  do {
    known = finer;
    finer = new Map(
      Array.from(parts, ([part, { text, inner }]) => {
        const kind = [known.get(part) ?? text, ...inner.map((each) => known.get(each))];
        return [part, fingerprint(kind.join())];
      }),
    );
  } while (kindsOf(finer).size > kindsOf(known).size);
  return [finer.get(schema), ...[...kindsOf(finer)].toSorted()];
}

function kindsOf(known: ReadonlyMap<SchemaPart, string>): ReadonlySet<string> {
  return new Set(known.values());
}

/** All schemas in `schema`, each once. */
function partsOf(schema: SchemaPart): ReadonlyMap<SchemaPart, Part> {
  const parts = new Map<SchemaPart, Part>();
  // By how many lazy schemas they are enclosed. Grows while it is gone through.
  const depths = new Map([[schema, 0]]);
  let lazies = 0;
  for (const [part, depth] of depths) {
    const inner: SchemaPart[] = [];
    const description = describeSchema(part, {
      gap: (each) => {
        inner.push(each);
        if (!depths.has(each)) depths.set(each, depth + (part._zod.def['type'] === 'lazy' ? 1 : 0));
        return GAP;
      },
      mayLook: () => depth < LAZY_DEPTH_MAX && lazies++ < LAZIES_MAX,
    });
    parts.set(part, { text: JSON.stringify(description), inner });
  }
  return parts;
}

function describe(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'object':
      return value === null ? null : describeObject(value, walk);
    case 'string':
    case 'boolean':
      return value;
    case 'number':
    case 'bigint':
      return [typeof value, String(value)];
    case 'undefined':
    case 'function':
    case 'symbol':
      return [typeof value];
  }
}

/** Whatever JSON has no form for, or another one, is a list that begins with what it is; so are lists themselves. */
function describeObject(value: object, walk: Walk): unknown {
  if (value instanceof RegExp) return ['regex', String(value)];
  if (value instanceof Date) return ['date', String(value.getTime())];
  if (isSchemaPart(value)) return walk.gap(value);
  if (isIterable(value)) {
    // Says whether it is a list, a set, a map or bytes.
    return [Object.prototype.toString.call(value), ...Array.from(value, (each) => describe(each, walk))];
  }
  return describeFields(value, Object.keys(value), walk);
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

/** Formats such as `z.int()` are checks of themselves: described as `z.number().int()`. */
function describeSchema(schema: SchemaPart, walk: Walk): unknown {
  const own = describeDef(schema, walk);
  const { def } = schema._zod;
  const checks = ((def['checks'] ?? []) as readonly SchemaPart[]).map((check) => describeDef(check, walk));
  if ('check' in own) return { type: own['type'], checks: [own, ...checks] };
  return checks.length === 0 ? own : { ...own, checks };
}

/**
 * Not a part of what is checked: what is said of a misfit. What begins with `_` is kept there while parsing. Which value a
 * default has cannot be told without running what makes it, which may count, remember or look at the time: the type of the
 * schema says that there is one.
 */
const UNSEEN = /^(error|abort|params|path|checks|defaultValue|_.*)$/;

function describeDef(schema: SchemaPart, walk: Walk): Record<string, unknown> {
  const { def } = schema._zod;
  const keys = Object.keys(def).filter((key) => !UNSEEN.test(key) && def[key] !== undefined);
  return {
    ...describeFields(def, keys, walk),
    ...(def['type'] === 'lazy' && walk.mayLook() && { inner: describe(lazyInner(schema), walk) }),
  };
}

/** In one order, and `__proto__` a key like any other. */
function describeFields(from: object, keys: readonly string[], walk: Walk): Record<string, unknown> {
  const fields = from as Readonly<Record<string, unknown>>;
  return Object.fromEntries(keys.toSorted().map((key) => [key, describe(fields[key], walk)]));
}
