/**
 * Finds out whether an argument of an operation is text in every call. It reads zod's definitions
 * of what schemas return, since generators get that.
 */
import { getLazySchema, isSchemaPart, type Schema } from '../../contract/schema-parts.ts';

/** Some lazy schemas create new ones without end. */
const MAX_DEPTH = 16;

/** The part of a path that names the first item of a list. */
const FIRST_ITEM = '0';

type SchemaDef = Readonly<Record<string, unknown>>;

/** Returns whether a schema of this definition fulfills a rule. */
type Rule = (def: SchemaDef, depth: number) => boolean;

/**
 * Describes why an operation with these arguments cannot be placed by one of them. Returns
 * `undefined` if it can.
 */
export function describeArgumentProblem(args: Schema, name: string): string | undefined {
  const path = name.split('.');
  const find: Rule = ({ shape }) => Object.hasOwn((shape ?? {}) as object, path[0] as string);
  if (!fulfills(args, find))
    return `there is no argument '${name}' in every call. Name one that is text, as z.string()`;
  if (fulfills(args, isTextAt(path))) return undefined;
  return `the argument '${name}' is not text in every call. Name one that is, as z.string()`;
}

/** Whether there is text at a path. A list may be empty. */
function isTextAt([name, ...rest]: readonly string[]): Rule {
  if (name === undefined) return isText;
  return ({ type, shape, element }, depth) => {
    const part =
      type === 'array' && name === FIRST_ITEM ? element : ((shape ?? {}) as SchemaDef)[name];
    return fulfills(part, isTextAt(rest), depth);
  };
}

function isText({ type, entries, values }: SchemaDef): boolean {
  switch (type) {
    case 'string':
    case 'template_literal':
      return true;
    case 'enum':
      return Object.values(entries as object).every(isString);
    case 'literal':
      return (values as readonly unknown[]).every(isString);
    default:
      // Only the types of the program know what these return.
      return type === 'custom' || type === 'transform';
  }
}

function unwrapOptional(schema: unknown): unknown {
  if (!isSchemaPart(schema) || schema._zod.def['type'] !== 'optional') return schema;
  return unwrapOptional(schema._zod.def['innerType']);
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

/** Returns whether each value that the schema may return fulfills the rule. */
function fulfills(schema: unknown, rule: Rule, depth = 0): boolean {
  if (!isSchemaPart(schema) || depth > MAX_DEPTH) return false;
  const inner = (part: unknown): boolean => fulfills(part, rule, depth + 1);
  const { def } = schema._zod;
  switch (def['type']) {
    case 'union':
      return (def['options'] as readonly unknown[]).every(inner);
    case 'intersection':
      return inner(def['left']) || inner(def['right']);
    case 'pipe':
      return inner(def['out']);
    case 'default':
    case 'nonoptional':
      return inner(unwrapOptional(def['innerType']));
    case 'prefault':
    case 'readonly':
    case 'catch':
      return inner(def['innerType']);
    case 'lazy':
      return inner(getLazySchema(schema));
    default:
      return rule(def, depth);
  }
}
