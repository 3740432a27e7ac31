/**
 * The limits of operations that wait for the red order, in all and for one
 * client.
 */
import { getClient } from '../../../records/operation-id.ts';
import type { SubmissionIdentity } from '../../core/submissions.ts';
import { DEFAULT_SEND_WINDOWS } from '../../../records/send-windows.ts';
import type { IdTable } from '../../exactly-once/id-table.ts';
import type { RedRequests } from './red-requests.ts';
import type { StrongReads } from './strong-reads.ts';

export interface RedLimits {
  /** Default: no limit */
  readonly maxRedInFlight?: number | undefined;
  /** Default: `DEFAULT_SEND_WINDOWS` */
  readonly windows?: { readonly maxProposed?: number } | undefined;
}

/**
 * Whether the maximum of operations wait for the red order. Operations that may
 * have been sent, and whose callers have left, do not count, up to the number
 * that is sent at a time. A leader that is away holds those.
 */
export function isRedFull(
  { maxRedInFlight = Infinity, windows }: RedLimits,
  requests: RedRequests,
  reads: StrongReads,
): boolean {
  const left = Math.min(
    requests.abandonedCount + reads.abandonedCount,
    windows?.maxProposed ?? DEFAULT_SEND_WINDOWS.maxProposed,
  );
  const places = requests.size + reads.waitedCount + reads.abandonedCount;
  return places - left >= maxRedInFlight;
}

/**
 * Whether a client has the maximum of red operations that it has not
 * acknowledged.
 */
export function isClientFull(
  tables: readonly Pick<IdTable<unknown>, 'isFullFor' | 'get'>[],
  requests: RedRequests,
  { id, acknowledged }: Pick<SubmissionIdentity, 'id' | 'acknowledged'>,
): boolean {
  const client = getClient(id);
  return tables.some((table) => {
    const isFullWith = (coming: number): boolean =>
      table.isFullFor(client, { acknowledged, pendingCount: coming });
    // Two upper bounds come first, because an exact count costs more and is
    // almost never needed. The log decides an operation before it ends here.
    if (
      !isFullWith(requests.size) ||
      !isFullWith(requests.countByClient(client))
    )
      return false;
    const coming = [...requests.ids].filter(
      (item) => getClient(item) === client && table.get(item) === undefined,
    );
    return isFullWith(coming.length);
  });
}
