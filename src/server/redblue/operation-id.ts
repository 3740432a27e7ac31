/** Identifiers of operations: a client and the number that it gave the operation. */
import type { OperationId } from './records.ts';

const SEPARATOR = '/';

/** The identifier of a client's operation. */
export function operationId(client: string, sequence: number): OperationId {
  return `${client}${SEPARATOR}${sequence}`;
}

/** Whose operation it is. */
export function clientOf(id: OperationId): string {
  return id.slice(0, id.lastIndexOf(SEPARATOR));
}

/** Which of its client's operations it is. */
export function sequenceOf(id: OperationId): number {
  return Number(id.slice(id.lastIndexOf(SEPARATOR) + 1));
}
