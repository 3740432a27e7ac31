/** Values that are in the state of sites: nobody changes them, least of all a generator that has read them. */
import { isPlain } from '../../protocol/value-domain.ts';

/** The value, with all that is in it, as something that cannot be changed. Bytes and dates stay as they are. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}
