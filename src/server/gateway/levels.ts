/** The levels of a hosted binding: rows name them by index, so that they must hold still. */
import type { Binding } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { NAME_LENGTH_MAX } from '../../protocol/rows/elements.ts';
import { LEVELS_MAX } from '../../protocol/rows/levels.ts';
import { absorb } from './submission/hooks.ts';

/** Throws `INVALID_ARGUMENT` for a binding whose levels could not be told to a client. */
export function levelsOf(binding: Binding): readonly string[] {
  const given: unknown = binding.consistencyLevels();
  absorb(given);
  const isFit =
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= LEVELS_MAX &&
    given.every(isName) &&
    new Set(given).size === given.length;
  if (isFit) return [...given];
  const message = `binding: consistencyLevels must give 1 to ${LEVELS_MAX} distinct names, weakest first`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'binding' });
}

function isName(level: unknown): level is string {
  return typeof level === 'string' && level !== '' && level.length <= NAME_LENGTH_MAX;
}
