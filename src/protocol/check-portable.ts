/** Values that can be written down and sent: those of the codecs (`codec.ts`). */
import { OutsideDomain } from './codec.ts';
import { toJsonValue } from './json-values.ts';

/**
 * Checks that a value can be written to a log and sent.
 *
 * @throws CorrectableError `INVALID_VALUE` with the path of what cannot, which begins with `where`
 */
export function checkPortable(value: unknown, where: string): void {
  try {
    toJsonValue(value);
  } catch (error) {
    if (error instanceof OutsideDomain) throw error.toError([where, ...error.path]);
    throw error;
  }
}
