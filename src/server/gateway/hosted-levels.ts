import type { Binding } from '../../correctable/binding.ts';
import { check } from '../../correctable/errors.ts';
import { isNonEmptyString } from '../../correctable/validate.ts';
import { MAX_NAME_LENGTH } from '../../protocol/messages/field-schemas.ts';
import { MAX_LEVELS } from '../../protocol/messages/level-bits.ts';
import { ignoreRejection } from './operations/call-hook.ts';

/**
 * Returns the levels of a hosted binding. Messages name them by index. Throws `INVALID_ARGUMENT`
 * for invalid names.
 */
export function getHostedLevels(binding: Binding): readonly string[] {
  const value: unknown = binding.consistencyLevels();
  ignoreRejection(value);
  const isFit =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_LEVELS &&
    value.every((level) => isNonEmptyString(level) && level.length <= MAX_NAME_LENGTH) &&
    new Set(value).size === value.length;
  check(
    isFit,
    'binding',
    `consistencyLevels must give 1 to ${MAX_LEVELS} distinct names, weakest first`,
  );
  return [...value];
}
