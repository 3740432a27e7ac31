/**
 * Draws values by a JSON Schema, so that operations conflict. It ignores refinements, so the caller
 * checks the values.
 */
import { defineProperty } from '../../../values/deep-copy.ts';
import type { Random } from '../../service/collections/random.ts';
import type { JsonSchema } from '../../../contract/json-schema.ts';

/** The limits for the values and the length of a run. */
export interface ValueScope {
  /** The number of names. */
  readonly names: number;
  /** The size of the range of integers, which begins at 0 or at the smallest allowed integer. */
  readonly maxNumber: number;
  /** Maximum number of operations in the common past. */
  readonly past: number;
  /** Repeats few operations on few rows or names, so that limits are reached. */
  readonly isNarrow?: true;
}

const SCOPES: readonly [ValueScope, ...ValueScope[]] = [
  { names: 1, maxNumber: 2, past: 3 },
  { names: 2, maxNumber: 3, past: 5 },
  { names: 3, maxNumber: 10, past: 7 },
  { names: 4, maxNumber: 100, past: 7 },
];

const NARROW_SCOPE: ValueScope = {
  names: 16,
  maxNumber: 16,
  past: 24,
  isNarrow: true,
};
/** The number of rounds with other scopes between two narrow ones. Each scope is used twice. */
const WIDE_ROUNDS = 2 * SCOPES.length;

/**
 * Returns the scope of the round with this number. Scopes take turns, so that any number of runs
 * has some of each.
 */
export function getScope(round: number): ValueScope {
  const turn = round % (WIDE_ROUNDS + 1);
  return turn === WIDE_ROUNDS ? NARROW_SCOPE : (SCOPES[turn % SCOPES.length] ?? SCOPES[0]);
}

/** How many values of one name are kept. They are the first ones, which are used most often. */
const MAX_VALUES_PER_NAME = 16;
/** The maximum depth to which values are noted. */
const MAX_NOTED_DEPTH = 8;

/** Texts and numbers by the names of the properties or fields that had them. */
export class ValuePool {
  readonly #texts = new ValuesByName<string>();
  readonly #numbers = new ValuesByName<number>();
  readonly #hasMany = new Map<string, boolean>();

  /**
   * Notes all texts and numbers in a value under the name of their owner. Those in objects have
   * their own names.
   */
  note(name: string, value: unknown, depth = 0): void {
    if (typeof value === 'string') this.#texts.add(name, value);
    else if (typeof value === 'number') this.#numbers.add(name, value);
    else if (typeof value !== 'object' || value === null || depth > MAX_NOTED_DEPTH) return;
    else if (Array.isArray(value)) for (const item of value) this.note(name, item, depth + 1);
    else for (const [inner, entry] of Object.entries(value)) this.note(inner, entry, depth + 1);
  }

  /** Returns what was noted under the name, or under all names. */
  texts(name?: string): readonly string[] {
    return this.#texts.get(name);
  }

  /**
   * Returns whether a narrow run uses many values of this name. For example, it may have few groups
   * with many members, or the reverse.
   */
  hasMany(name: string, random: Random): boolean {
    const known = this.#hasMany.get(name) ?? random.chance(0.5);
    this.#hasMany.set(name, known);
    return known;
  }

  numbers(name?: string): readonly number[] {
    return this.#numbers.get(name);
  }
}

class ValuesByName<T> {
  readonly #byName = new Map<string, T[]>();
  /**
   * A cache of the values of all names, dropped when another value is noted. Values are drawn more
   * often than noted.
   */
  #all: readonly T[] | undefined;

  add(name: string, value: T): void {
    let values = this.#byName.get(name);
    if (values === undefined) {
      values = [];
      this.#byName.set(name, values);
    }
    if (values.length >= MAX_VALUES_PER_NAME || values.includes(value)) return;
    values.push(value);
    this.#all = undefined;
  }

  get(name: string | undefined): readonly T[] {
    if (name !== undefined) return this.#byName.get(name) ?? [];
    if (this.#all === undefined) {
      // Build the array in a loop, because `flat` takes several times as long.
      const all: T[] = [];
      for (const values of this.#byName.values()) for (const value of values) all.push(value);
      this.#all = all;
    }
    return this.#all;
  }
}

export interface ValueSource {
  readonly random: Random;
  readonly pool: ValuePool;
  readonly scope: ValueScope;
}

/** Below this depth, only required parts are drawn. */
const MAX_DEPTH = 4;
const MAX_LIST_LENGTH = 3;
/**
 * The range above which a limit of the schema counts as large. Large limits are used only in scopes
 * with large numbers, because they may create very many effects.
 */
const LARGE_RANGE = 50;
const LARGE_SCOPE_FROM = 100;
const NAME_LETTERS = 'abcdefghijklmnop';
const ODD_VALUES: readonly [unknown, ...unknown[]] = [null, true, 0, 1, 'a', undefined];

/** Example values of formats that a string of letters does not match. */
const FORMAT_EXAMPLES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  email: ['a@example.org', 'b@example.org'],
  uuid: ['6f1dbd2c-7d5c-4a59-9d5a-0a0000000001', '6f1dbd2c-7d5c-4a59-9d5a-0a0000000002'],
  uri: ['https://a.example/', 'https://b.example/'],
  'date-time': ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  date: ['2026-01-01', '2026-01-02'],
  time: ['00:00:00', '12:00:00'],
  ipv4: ['192.0.2.1', '192.0.2.2'],
};

/** Draws a value of the schema for the property of this name. */
export function drawValue(schema: JsonSchema, name: string, source: ValueSource): unknown {
  return new ValueGenerator(schema, source).value(schema, name, 0);
}

class ValueGenerator {
  readonly #root: JsonSchema;
  readonly #source: ValueSource;

  constructor(root: JsonSchema, source: ValueSource) {
    this.#root = root;
    this.#source = source;
  }

  value(schema: JsonSchema, name: string, depth: number): unknown {
    const { random, pool } = this.#source;
    if (schema.$ref !== undefined)
      return this.value(this.#resolveRef(schema.$ref), name, depth + 1);
    if ('const' in schema) return schema.const;
    const choices = schema.enum ?? schema.anyOf ?? schema.oneOf;
    if (choices !== undefined && choices.length > 0) {
      // The last alternative of a union is usually the simplest, for example null. Below the
      // maximum depth, it ends recursive schemas.
      const choice =
        depth > MAX_DEPTH ? choices.at(-1) : random.pick(choices as [unknown, ...unknown[]]);
      return schema.enum === undefined ? this.value(choice as JsonSchema, name, depth + 1) : choice;
    }
    if (schema.allOf !== undefined) return this.value(mergeAllOf(schema), name, depth);
    switch (schema.type) {
      case 'string':
        return this.#text(schema, name);
      case 'integer':
      case 'number':
        return drawNumber(schema, name, this.#source);
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      case 'array':
        return this.#list(schema, name, depth);
      case 'object':
        return this.#object(schema, depth);
      case undefined:
      default: {
        const texts = pool.texts(name);
        return texts.length > 0 && random.chance(0.5)
          ? random.pick(texts as [string, ...string[]])
          : random.pick(ODD_VALUES);
      }
    }
  }

  #resolveRef(reference: string): JsonSchema {
    const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1];
    return (name === undefined ? this.#root : this.#root.$defs?.[name]) ?? {};
  }

  #text({ format, minLength = 0, maxLength = Infinity }: JsonSchema, name: string): string {
    const { random, pool, scope } = this.#source;
    const same = pool.texts(name);
    const { isNarrow = false } = scope;
    const hasMany = isNarrow && pool.hasMany(name, random);
    if (same.length > 0 && random.chance(hasMany ? 0.1 : 0.5))
      return random.pick(same as [string, ...string[]]);
    const any = pool.texts();
    if (any.length > 0 && random.chance(isNarrow ? 0.1 : 0.3))
      return random.pick(any as [string, ...string[]]);
    const ofFormat = FORMAT_EXAMPLES[format ?? ''];
    if (ofFormat !== undefined) return random.pick(ofFormat);
    const names = isNarrow && !hasMany ? 1 : scope.names;
    const letter = NAME_LETTERS.charAt(random.between(0, Math.min(names, NAME_LETTERS.length) - 1));
    return letter.repeat(Math.max(minLength, 1)).slice(0, maxLength);
  }

  #list(schema: JsonSchema, name: string, depth: number): unknown[] {
    const { prefixItems, items, minItems = 0, maxItems = Infinity } = schema;
    const first = (prefixItems ?? []).map((item) => this.value(item, name, depth + 1));
    // In a list with fixed positions, `items: false` allows no further elements.
    if (typeof items !== 'object') return first;
    const most =
      depth > MAX_DEPTH ? minItems : Math.min(Math.max(MAX_LIST_LENGTH, minItems), maxItems);
    const length = this.#source.random.between(minItems, Math.max(minItems, most));
    return [...first, ...Array.from({ length }, () => this.value(items, name, depth + 1))];
  }

  #object(
    { properties = {}, required = [], additionalProperties }: JsonSchema,
    depth: number,
  ): object {
    const { random } = this.#source;
    const object: Record<string, unknown> = {};
    for (const name of Object.keys(properties)) {
      if (!required.includes(name) && (depth > MAX_DEPTH || random.chance(0.5))) continue;
      defineProperty(object, name, this.value(properties[name] ?? {}, name, depth + 1));
    }
    if (typeof additionalProperties === 'object') {
      const count = depth > MAX_DEPTH ? 0 : random.between(0, MAX_LIST_LENGTH - 1);
      for (let n = 0; n < count; n += 1) {
        const name = this.#text({}, '');
        defineProperty(object, name, this.value(additionalProperties, name, depth + 1));
      }
    }
    return object;
  }
}

/** Merges the schemas of `allOf` into one. */
function mergeAllOf({ allOf = [], ...rest }: JsonSchema): JsonSchema {
  return allOf.reduce<JsonSchema>((whole, item) => {
    const part = item.allOf === undefined ? item : mergeAllOf(item);
    const required = [...(whole.required ?? []), ...(part.required ?? [])];
    return {
      ...whole,
      ...part,
      properties: { ...whole.properties, ...part.properties },
      required,
    };
  }, rest);
}

function drawNumber(
  schema: JsonSchema,
  name: string,
  { random, pool, scope }: ValueSource,
): number {
  const whole = schema.type === 'integer';
  const { multipleOf = whole ? 1 : undefined } = schema;
  const step = multipleOf ?? 0.5;
  const min = parseBound(schema.minimum) ?? nextNumber(parseBound(schema.exclusiveMinimum), step);
  const max = parseBound(schema.maximum) ?? nextNumber(parseBound(schema.exclusiveMaximum), -step);
  const isOfName = random.chance(0.5);
  const fits = (value: number): number => {
    const onStep = multipleOf === undefined ? value : Math.round(value / multipleOf) * multipleOf;
    return Math.min(Math.max(onStep, min ?? -Infinity), max ?? Infinity);
  };
  const roll = random.fraction();
  const known = roll >= 0.3 ? [] : isOfName ? pool.numbers(name) : pool.numbers();
  if (known.length > 0)
    return fits(random.pick(known as [number, ...number[]]) + random.between(-1, 1));
  const isNear = (item: number | undefined): item is number =>
    item !== undefined && (Math.abs(item) <= LARGE_RANGE || scope.maxNumber >= LARGE_SCOPE_FROM);
  const bounds = [min, nextNumber(min, step), nextNumber(max, -step), max].filter(isNear);
  if (roll < 0.4 && bounds.length > 0) return fits(random.pick(bounds as [number, ...number[]]));
  if (roll < 0.5) return fits(random.between(-1, 2));
  const generated = fits((min ?? 0) + random.between(0, scope.maxNumber));
  return whole || multipleOf !== undefined || random.chance(0.7)
    ? generated
    : fits(generated + 0.5);
}

/** Returns a limit unless it is the default: all integers of a schema are within ±2^53. */
function parseBound(value: number | undefined): number | undefined {
  return value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

function nextNumber(value: number | undefined, step: number): number | undefined {
  return value === undefined ? undefined : value + step;
}
