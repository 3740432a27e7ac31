/**
 * A `put` with `ttlMs` must reach only stores that remove the value in time. Another store would
 * ignore the field and keep the value for ever, so every binding without it refuses the operation.
 */
import { CorrectableError } from './errors.ts';
import type { Operation } from './operation.ts';

/** Returns whether `operation` is a `put` whose value expires. */
export function hasTimeToLive({ name, args }: Pick<Operation, 'name' | 'args'>): boolean {
  if (name !== 'put' || typeof args !== 'object' || args === null) return false;
  return (args as { readonly ttlMs?: unknown }).ttlMs !== undefined;
}

/** @throws CorrectableError `UNSUPPORTED` for a `put` whose value expires */
export function refuseTimeToLive(operation: Operation, store: string): void {
  if (!hasTimeToLive(operation)) return;
  const message = `put: ${store} cannot remove a value after ttlMs. The write was not applied. Write without ttlMs, or use a binding that has it.`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'args.ttlMs' });
}
