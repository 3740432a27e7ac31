/** Converts a value to JSON, for engines that store text or bytes. */
import { CorrectableError } from '../../correctable/errors.ts';
import { findChangedPart } from './json-changes.ts';

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
