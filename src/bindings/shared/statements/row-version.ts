/** The version of a result that a statement selects. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Page } from './page.ts';

/**
 * Returns the version of a result, in the column that `version` of `oneRow` names.
 *
 * @throws CorrectableError `INVALID_VALUE` for what is no version
 */
export function readVersion({ rows: [row] }: Page, column: string, name: string): unknown {
  if (row === undefined) return undefined;
  const version = row[column] ?? undefined;
  const isVersion =
    version === undefined ||
    typeof version === 'number' ||
    typeof version === 'bigint' ||
    version instanceof Date;
  if (isVersion) return version;
  const message = `${name}: ${column} is no version: select an integer or a timestamp AS ${column}`;
  throw new CorrectableError('INVALID_VALUE', message, { field: column });
}
