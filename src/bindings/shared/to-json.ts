/** Converts a value to JSON, for engines that store text or bytes. */
import { getBuiltInClass } from '../../correctable/built-in-class.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { isPlain } from '../../values/value-kinds.ts';

/**
 * @throws {CorrectableError} `INVALID_VALUE` for a value that JSON lacks: a
 * cycle, a bigint, `undefined`, a function
 */
export function toJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new CorrectableError(
      'INVALID_VALUE',
      `the value cannot be written as JSON: ${String(cause)}`,
      { cause },
    );
  }
  if (text !== undefined) return text;
  throw new CorrectableError(
    'INVALID_VALUE',
    'the value cannot be written as JSON: give another, or a codec',
  );
}

/**
 * Converts a value of an operation to JSON that comes back as it is.
 *
 * @param field the name of the value in the operation, as `args.value`
 * @throws {CorrectableError} `INVALID_VALUE` for what JSON lacks or changes
 */
export function toExactJson(
  value: unknown,
  { name, field }: { readonly name: string; readonly field: string },
): string {
  const text = toJson(value);
  const changed = findChangedPart(value, field);
  if (changed === undefined) return text;
  const message = `${name}: ${changed.path} is ${changed.name}, which JSON does not keep. The value was not written. Use objects, arrays, texts, finite numbers, booleans and null.`;
  throw new CorrectableError('INVALID_VALUE', message, { field: changed.path });
}

/** A part of a value that JSON does not restore unchanged. */
interface ChangedPart {
  /** For example `args.value.items.0.price`. */
  readonly path: string;
  readonly name: string;
}

/**
 * Returns the first part that JSON changes. `-0` counts as `0`, and an object without a prototype
 * as one with it.
 *
 * @param value a value that `JSON.stringify` accepts, so that it has no cycle
 */
function findChangedPart(value: unknown, path: string): ChangedPart | undefined {
  if (typeof value === 'object' && value !== null) return findInObject(value, path);
  const isKept = typeof value === 'string' || typeof value === 'boolean' || value === null;
  if (isKept || Number.isFinite(value)) return undefined;
  return {
    path,
    name: typeof value === 'number' ? String(value) : `a value of type ${typeof value}`,
  };
}

function findInObject(value: object, path: string): ChangedPart | undefined {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return { path, name: describeClass(value) };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return { path, name: 'an object with toJSON' };
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol !== undefined) return { path, name: `an object with the key ${String(symbol)}` };
  // Holes of an array have no keys, and JSON restores them as null.
  const entries: Iterable<readonly [string | number, unknown]> = isArray
    ? value.entries()
    : Object.entries(value);
  for (const [key, part] of entries) {
    const changed = findChangedPart(part, `${path}.${key}`);
    if (changed !== undefined) return changed;
  }
  return undefined;
}

function describeClass(value: object): string {
  const kind = getBuiltInClass(value) ?? 'Object';
  return kind === 'Object' ? 'an instance of a class' : `an instance of ${kind}`;
}
