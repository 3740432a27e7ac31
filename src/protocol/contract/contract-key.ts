/** The object that an operation is about, as its contract makes it of the parsed arguments. */
import { CorrectableError } from '../../correctable/errors.ts';
import { takeIn } from './parse-now.ts';

/** What a contract gives as `key`. */
type MakeKey = (args: never) => unknown;

/**
 * The key of an operation, which is called `name`, with these parsed arguments. None where the contract makes none.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where `make` throws, or gives what is no string
 */
export function keyBy(make: MakeKey | undefined, args: unknown, name: string): string | undefined {
  try {
    const key = make?.(args as never) ?? undefined;
    if (typeof key === 'string' || key === undefined) return key;
    takeIn(key);
    throw new TypeError(`a key must be a string, not of type ${typeof key}`);
  } catch (cause) {
    const message = `${name}: no key can be made of its args; see cause. Correct the contract.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'args', cause });
  }
}
