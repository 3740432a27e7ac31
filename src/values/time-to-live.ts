/**
 * A `put` with `ttlMs` must reach only stores that remove the value in time. Another store would
 * ignore the field and keep the value for ever, so every binding without it refuses the operation.
 */
import { CorrectableError } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';

const REASON =
  'It cannot remove a value after ttlMs. The write was not applied. Write without ttlMs, or use a binding that has it.';

/** Returns whether `operation` is a `put` whose value expires. */
export function hasTimeToLive({ name, args }: Pick<Operation, 'name' | 'args'>): boolean {
  if (name !== 'put' || typeof args !== 'object' || args === null) return false;
  return (args as { readonly ttlMs?: unknown }).ttlMs !== undefined;
}

/** Returns the text of `describeUnsupported` for a binding that cannot remove a value in time. */
export function describeTimeToLive(operation: Operation): string | undefined {
  return hasTimeToLive(operation) ? REASON : undefined;
}

/** @throws CorrectableError `UNSUPPORTED` for a `put` whose value expires */
export function refuseTimeToLive(operation: Pick<Operation, 'name' | 'args'>, store: string): void {
  if (!hasTimeToLive(operation)) return;
  const message = `put: ${store}: ${REASON}`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'args.ttlMs' });
}
