/** How much may wait for the red order, of all and of one client. */
import { clientOf } from '../../records/operation-id.ts';
import type { OperationId } from '../../records/records.ts';
import type { Identity } from '../../records/submissions.ts';
import { WINDOWS } from '../../records/windows.ts';
import type { ReplicaOptions } from '../core/replica-port.ts';
import type { RedRequests } from './red-requests.ts';
import type { StrongReads } from './strong-reads.ts';

/**
 * Whether as much waits for the red order as may. What may have been sent and nobody waits for does not count, up to as
 * many as are sent at a time: an absent leader has those for as long as it is away, whoever has given them up.
 */
export function isFull(
  { redInFlightMax = Infinity, windows }: Pick<ReplicaOptions, 'redInFlightMax' | 'windows'>,
  requests: RedRequests,
  reads: StrongReads,
): boolean {
  const left = Math.min(requests.left + reads.left, windows?.proposed ?? WINDOWS.proposed);
  const places = requests.size + reads.awaited + reads.left;
  return places - left >= redInFlightMax;
}

/** What is remembered of red operations, by their clients. */
export interface Remembered {
  isFullFor(client: string, besides: { readonly acknowledged: number; readonly coming: number }): boolean;
  has(id: OperationId): boolean;
}

/**
 * Whether a client has as many red operations that it has not acknowledged as it may: of those one would be forgotten for
 * one more.
 */
export function isFullFor(
  tables: readonly Remembered[],
  requests: RedRequests,
  { id, acknowledged }: Pick<Identity, 'id' | 'acknowledged'>,
): boolean {
  const client = clientOf(id);
  return tables.some((table) => {
    const isFullWith = (coming: number): boolean => table.isFullFor(client, { acknowledged, coming });
    // As if all were of this client, which it nearly always may have. The log decides an operation before it ends here.
    if (!isFullWith(requests.size) || !isFullWith(requests.countOf(client))) return false;
    const coming = [...requests.ids].filter((each) => clientOf(each) === client && !table.has(each));
    return isFullWith(coming.length);
  });
}
