/** Identifiers of operations: a client and the number that it gave the operation. */
import type { OperationId } from '../../service/records/records.ts';

const SEPARATOR = '/';

/**
 * The last identifier that was formatted or parsed. Those of one operation are parsed several times
 * in a row.
 */
const lastParsed = { id: '', client: '', sequence: NaN };

export function formatOperationId(client: string, sequence: number): OperationId {
  lastParsed.id = `${client}${SEPARATOR}${sequence}`;
  lastParsed.client = client;
  lastParsed.sequence = sequence;
  return lastParsed.id;
}

/**
 * The prefix of clients that stand for an idempotency key. Each has one operation, which any site
 * may get first.
 */
export const KEYED = '\u0001';

/**
 * Returns the identifier of the operation that a key names. `variant` is a hash of the operation
 * and its arguments.
 */
export function formatKeyedOperationId(key: string, variant: number): OperationId {
  return formatOperationId(KEYED + key, variant);
}

/** Whether an idempotency key names the operation. */
export function isKeyed(id: OperationId): boolean {
  return id.startsWith(KEYED);
}

function parseOperationId(id: OperationId): void {
  const end = id.lastIndexOf(SEPARATOR);
  lastParsed.id = id;
  // This is mostly the same client as before, whose name need not be hashed again for a map.
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
