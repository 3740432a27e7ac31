/** What stays in the process is handed over as if it were sent: neither side sees what the other does to a value later. */
import { isBytes } from '../../values/kinds.ts';
import { isFlat } from './check-portable.ts';
import { OutsideDomain, VALUE_DEPTH } from './codec.ts';
import { fromJsonValue, toJsonValue } from './json-values.ts';

/**
 * The value as it would come out at the other end.
 *
 * @throws CorrectableError `INVALID_VALUE` with the path of what cannot be sent, which begins with `where`
 */
export function sentCopy(value: unknown, where: string): unknown {
  if (isBytes(value)) return new Uint8Array(value);
  if (isFlat(value)) return flatCopy(value);
  try {
    const json = toJsonValue(value, VALUE_DEPTH);
    return typeof value === 'object' ? fromJsonValue(JSON.parse(JSON.stringify(json))) : value === 0 ? 0 : value;
  } catch (error) {
    throw error instanceof OutsideDomain ? error.toError([where, ...error.path]) : error;
  }
}

/** No text is made of what most arguments and results are: of bytes it would be much longer than they are. */
function flatCopy(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    // `-0` becomes `0` on its way.
    copy[key] = item === 0 ? 0 : isBytes(item) ? new Uint8Array(item) : item;
  }
  return copy;
}
