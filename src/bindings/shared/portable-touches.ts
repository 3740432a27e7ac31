/** The objects that a portable operation reads or changes. */
import type { Operation } from '../../correctable/operation.ts';
import { isRecord } from '../../correctable/validate.ts';

/** Returns the objects of the operations that every store shares. */
export function getPortableTouches(operation: Operation): readonly string[] | undefined {
  const { name, key, args } = operation;
  if (name === 'commit' && isRecord(args) && Array.isArray(args['writes']))
    return args['writes'].map((write: unknown) => (write as { readonly key: string })?.key);

  const keys = isRecord(args) ? args['keys'] : undefined;
  if (Array.isArray(keys) && keys.every((name) => typeof name === 'string')) return keys;
  return key === undefined ? undefined : [key];
}
