/**
 * Checks the arguments of the binding's own operations: texts, and values as JSON. PostgreSQL has
 * no U+0000 in either of them.
 */
import { check } from '../../correctable/errors.ts';
import { checkKeys as checkAnyKeys } from '../shared/check-keys.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkText as checkAnyText, checkWellFormed } from '../shared/well-formed-text.ts';

export const NO_ZERO =
  'PostgreSQL cannot store the character U+0000: give a text without it, or bytes';

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function checkText(value: unknown, field: string): string {
  const text = checkAnyText(value, field);
  check(!text.includes('\0'), field, NO_ZERO);
  return text;
}

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function checkKeys(value: unknown): readonly string[] {
  return checkAnyKeys(value).map((key, at) => checkText(key, `args.keys[${at}]`));
}

/** In JSON, an escape that follows a backslash is none. */
const ZERO_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

/**
 * Returns a value as JSON for a column of type `jsonb`.
 *
 * @param field the name of the value in the operation, as `args.value`
 * @throws CorrectableError `INVALID_VALUE` for what JSON lacks or changes, and `INVALID_ARGUMENT`
 * for texts that PostgreSQL cannot store
 */
export function toStoredJson(
  value: unknown,
  operation: { readonly name: string; readonly field: string },
): string {
  const json = toExactJson(value, operation);
  checkWellFormed(value, operation.field);
  check(!ZERO_IN_JSON.test(json), operation.field, NO_ZERO);
  return json;
}
