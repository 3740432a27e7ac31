/** Identifiers of operations: a client and the number that it gave the operation. */
import type { OperationId } from './records.ts';

const SEPARATOR = '/';

/** The identifier that was made or taken apart last: an operation's is taken apart several times in a row. */
const last = { id: '', client: '', sequence: NaN };

/** The identifier of a client's operation. */
export function operationId(client: string, sequence: number): OperationId {
  last.id = `${client}${SEPARATOR}${sequence}`;
  last.client = client;
  last.sequence = sequence;
  return last.id;
}

/** Begins the clients that stand for an idempotency key: each has one operation, and any site may be asked for it first. */
export const KEYED = '\u0001';

/**
 * The identifier of the operation that an idempotency key names. `variant` is a hash of the operation and its arguments, so
 * that another operation under the same key has another identifier of the same client.
 */
export function keyedOperationId(key: string, variant: number): OperationId {
  return operationId(KEYED + key, variant);
}

/** Whether an idempotency key names the operation. */
export function isKeyed(id: OperationId): boolean {
  return id.startsWith(KEYED);
}

function takeApart(id: OperationId): void {
  const end = id.lastIndexOf(SEPARATOR);
  last.id = id;
  // Mostly the same one as before: a name that has been looked up already need not be hashed again.
  if (end !== last.client.length || !id.startsWith(last.client)) last.client = id.slice(0, end);
  last.sequence = Number(id.slice(end + 1));
}

/** Whose operation it is. */
export function clientOf(id: OperationId): string {
  if (last.id !== id) takeApart(id);
  return last.client;
}

/** Which of its client's operations it is. */
export function sequenceOf(id: OperationId): number {
  if (last.id !== id) takeApart(id);
  return last.sequence;
}
