/** How often a red operation is executed that is rejected again and again. */
import { partsOf } from '../../generator/read-set.ts';
import type { Conflict } from '../../records/verdict.ts';
import { isOnBounded } from '../../service/takes.ts';
import type { Tables } from '../../service/tables.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { RedRequest } from './red-requests.ts';

type Tried = Pick<RedRequest, 'attempt' | 'cascades' | 'conflict' | 'rejectedAtMs'>;

/** What was rejected with what it stood on alone has met nothing itself. */
function noteRejection(request: Tried, conflict: Conflict | undefined, nowMs: number): void {
  if (conflict?.reason === 'predecessor') {
    request.cascades += 1;
  } else {
    request.conflict = conflict;
    request.rejectedAtMs ??= nowMs;
  }
}

/**
 * Notes that a request was rejected, and says whether it is executed again: `attemptsMax` times in all. Where others have
 * drawn on the rights that it goes by, it tries for as long as it may wait for rights, however often that was: there may be
 * enough for all.
 */
export function triesAgain(
  { options, nowMs }: Pick<ReplicaCore, 'options' | 'nowMs'>,
  request: Tried,
  rejectedBy: Conflict | undefined,
): boolean {
  noteRejection(request, rejectedBy, nowMs);
  const { attempt, cascades, conflict, rejectedAtMs = nowMs } = request;
  if (attempt - cascades < options.attemptsMax) return true;
  return isAboutRights(conflict, options.service.tables) && nowMs - rejectedAtMs < options.reachTimeoutMs;
}

function isAboutRights(conflict: Conflict | undefined, tables: Tables): boolean {
  if (conflict?.reason !== 'name') return false;
  const { table, field = '' } = partsOf(conflict.name);
  return isOnBounded(tables, { table, field });
}
