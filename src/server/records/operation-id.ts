/**
 * Identifiers of operations: a client and the number that it gave the
 * operation.
 */
import type { OperationId } from './records.ts';

const SEPARATOR = '/';

/**
 * The identifier that was made or taken apart last: an operation's is taken
 * apart several times in a row.
 */
const lastParsed = { id: '', client: '', sequence: NaN };

export function formatOperationId(
  client: string,
  sequence: number,
): OperationId {
  lastParsed.id = `${client}${SEPARATOR}${sequence}`;
  lastParsed.client = client;
  lastParsed.sequence = sequence;
  return lastParsed.id;
}

/**
 * Begins the clients that stand for an idempotency key: each has one operation,
 * and any site may be asked for it first.
 */
export const KEYED = '\u0001';

/**
 * The identifier of the operation that a key names. `variant` is a hash of the
 * operation and its arguments.
 */
export function formatKeyedOperationId(
  key: string,
  variant: number,
): OperationId {
  return formatOperationId(KEYED + key, variant);
}

/** Whether an idempotency key names the operation. */
export function isKeyed(id: OperationId): boolean {
  return id.startsWith(KEYED);
}

function parseOperationId(id: OperationId): void {
  const end = id.lastIndexOf(SEPARATOR);
  lastParsed.id = id;
  // Mostly the same one as before: a name that has been looked up already need
  // not be hashed again.
  if (end !== lastParsed.client.length || !id.startsWith(lastParsed.client))
    lastParsed.client = id.slice(0, end);
  lastParsed.sequence = Number(id.slice(end + 1));
}

export function getClient(id: OperationId): string {
  if (lastParsed.id !== id) parseOperationId(id);
  return lastParsed.client;
}

export function getSequence(id: OperationId): number {
  if (lastParsed.id !== id) parseOperationId(id);
  return lastParsed.sequence;
}
