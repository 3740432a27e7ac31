/** An operation that only this binding has: the length of a queue. */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';

/**
 * Creates a read of the number of items in `queue`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the queue name is empty
 * @example
 * const jobs = await store.invokeStrong(queueLength('jobs'));
 */
export function queueLength(queue: string): Operation<number> {
  if (typeof queue === 'string' && queue !== '')
    return { name: 'length', args: { queue }, access: 'read', key: queue };
  throw createInvalidArgumentError('queue', 'give a string of at least one character');
}
