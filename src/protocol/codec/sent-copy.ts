/** What stays in the process is handed over as if it were sent: neither side sees what the other does to a value later. */
import { OutsideDomain, VALUE_DEPTH } from './codec.ts';
import { fromJsonValue, toJsonValue } from './json-values.ts';

/**
 * The value as it would come out at the other end.
 *
 * @throws CorrectableError `INVALID_VALUE` with the path of what cannot be sent, which begins with `where`
 */
export function sentCopy(value: unknown, where: string): unknown {
  try {
    const json = toJsonValue(value, VALUE_DEPTH);
    return typeof value === 'object' ? fromJsonValue(JSON.parse(JSON.stringify(json))) : value;
  } catch (error) {
    throw error instanceof OutsideDomain ? error.toError([where, ...error.path]) : error;
  }
}
