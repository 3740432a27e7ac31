/**
 * Finds the requests of a site that go on only once the red log of a partition orders something
 * again. They may be operations of other partitions.
 */
import { isGlobal } from '../global-records.ts';
import type { ExecutionName } from '../../../service/records/records.ts';
import type { RedRequest } from './red-requests.ts';

/** The holds that stand at the site. */
interface StandingHolds {
  /** Whether the global of a hold has rows of the partition. */
  concerns(execution: ExecutionName, partition: number): boolean;
}

/**
 * Returns the requests with rows of the partition, those that wait for a hold of such a global, and
 * all that wait for one of these.
 */
export function findBlocked(
  requests: Iterable<RedRequest>,
  partition: number,
  holds: StandingHolds,
): ReadonlySet<RedRequest> {
  const blocked = new Set<RedRequest>();
  const add = (request: RedRequest): void => {
    if (blocked.has(request)) return;
    blocked.add(request);
    for (const waiting of [request.proposalWaiters, request.endWaiters])
      for (const follower of waiting?.slice() ?? []) add(follower);
  };
  for (const request of requests)
    if (hasRowsOf(request, partition) || isHeld(request, partition, holds)) add(request);
  return blocked;
}

function hasRowsOf({ partition: home, record, run }: RedRequest, partition: number): boolean {
  if (home === partition || run?.others?.includes(partition) === true) return true;
  return record?.kind === 'operation' && isGlobal(record) && record.others.includes(partition);
}

function isHeld({ heldBy }: RedRequest, partition: number, holds: StandingHolds): boolean {
  return heldBy !== undefined && holds.concerns(heldBy, partition);
}
