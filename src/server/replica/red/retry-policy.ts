/** How often a red operation is executed that is rejected again and again. */
import { toFieldName } from '../../generator/read-set.ts';
import { getConflictingNames, type Conflict } from '../../records/certification-result.ts';
import { sumTakes } from '../../service/bounded-takes.ts';
import type { Tables } from '../../service/tables.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { RedRequest } from './red-requests.ts';

type RetriedRequest = Pick<RedRequest, 'attempt' | 'uncountedRejections' | 'conflict' | 'record' | 'rejectedAtMs'>;

/** What was rejected with what it stood on alone has met nothing itself. */
function noteRejection(request: RetriedRequest, conflict: Conflict | undefined, nowMs: number): void {
  if (conflict?.reason === 'predecessor') {
    request.uncountedRejections += 1;
  } else {
    request.conflict = conflict;
    request.rejectedAtMs ??= nowMs;
  }
}

/**
 * Notes that a request was rejected, and returns whether it is executed again: `maxAttempts` times in all. If others
 * have drawn on the rights that it takes, it tries for as long as it may wait for rights, since there may be enough for
 * all. An operation that only reads what is left, or takes something else, has the tries of any red operation.
 */
export function shouldRetry(
  { options, nowMs }: Pick<ReplicaCore, 'options' | 'nowMs'>,
  request: RetriedRequest,
  rejectedBy: Conflict | undefined,
): boolean {
  noteRejection(request, rejectedBy, nowMs);
  const { attempt, uncountedRejections, rejectedAtMs = nowMs } = request;
  if (attempt - uncountedRejections < options.maxAttempts) return true;
  return isTakeConflict(request, options.service.tables) && nowMs - rejectedAtMs < options.reachTimeoutMs;
}

/** Whether what it met is, among others, what its last execution has taken from. */
function isTakeConflict({ conflict, record }: RetriedRequest, tables: Tables): boolean {
  const encountered = getConflictingNames(conflict);
  if (encountered.length === 0 || record?.kind !== 'operation') return false;
  return sumTakes(tables, record.effects).some(({ table, key, field }) =>
    encountered.includes(toFieldName(table, key, field)),
  );
}
