/** The keys of a `getMany`, for engines that store UTF-8. */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import { checkText } from './well-formed-text.ts';

/** How many keys a `getMany` may have. */
export const MAX_KEYS = 1_000;

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function checkKeys(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw createInvalidArgumentError('args.keys', 'give a list of keys');
  if (value.length > MAX_KEYS)
    throw createInvalidArgumentError(
      'args.keys',
      `give at most ${MAX_KEYS} keys, not ${value.length}`,
    );
  return value.map((key: unknown, at) => checkText(key, `args.keys[${at}]`));
}
