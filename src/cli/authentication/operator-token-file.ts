/** The token of operators, in a file that may be replaced while the server runs. */
import { resolve } from 'node:path';
import { isCorrectableError } from '../../correctable/errors.ts';
import { checkOption } from '../../correctable/options.ts';
import { readTextFile } from '../../server/node/cluster/text-file.ts';
import { operatorTokenOption } from '../../server/gateway/listen/operator-token.ts';
import { createUsageError, readText, type RawOptions } from '../options.ts';

/**
 * Returns a function that reads the token of operators. It is called for each request, so that the
 * file can be replaced.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the flag if the file has none now
 */
export function parseOperatorToken(options: RawOptions): (() => string) | undefined {
  if (options['operatorTokenFile'] === undefined) return undefined;
  const path = resolve(readText(options, 'operatorTokenFile'));
  const read = (): string => readTextFile(path).trim();
  try {
    checkOption(read(), 'operatorToken', operatorTokenOption);
  } catch (error) {
    const problem = isCorrectableError(error) ? 'has no usable token' : 'cannot be read';
    const message = `names ${path}, which ${problem}: ${(error as Error).message}`;
    throw createUsageError('operator-token-file', message);
  }
  return read;
}
