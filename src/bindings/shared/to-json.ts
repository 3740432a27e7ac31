/** Converts a value to JSON, for engines that store text or bytes. */
import { CorrectableError } from '../../correctable/errors.ts';

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
