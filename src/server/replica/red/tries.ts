/** How often a red operation is executed that is rejected again and again. */
import { fieldName } from '../../generator/read-set.ts';
import { namesMet, type Conflict } from '../../records/verdict.ts';
import { takesOf } from '../../service/takes.ts';
import type { Tables } from '../../service/tables.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { RedRequest } from './red-requests.ts';

type Tried = Pick<RedRequest, 'attempt' | 'cascades' | 'conflict' | 'record' | 'rejectedAtMs'>;

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
 * drawn on the rights that it takes, it tries for as long as it may wait for rights, however often that was: there may be
 * enough for all. Who only reads what is left, or takes something else, has the tries of any red operation.
 */
export function triesAgain(
  { options, nowMs }: Pick<ReplicaCore, 'options' | 'nowMs'>,
  request: Tried,
  rejectedBy: Conflict | undefined,
): boolean {
  noteRejection(request, rejectedBy, nowMs);
  const { attempt, cascades, rejectedAtMs = nowMs } = request;
  if (attempt - cascades < options.attemptsMax) return true;
  return isAboutTakes(request, options.service.tables) && nowMs - rejectedAtMs < options.reachTimeoutMs;
}

/** Whether what it met is, among others, what its last execution has taken from. */
function isAboutTakes({ conflict, record }: Tried, tables: Tables): boolean {
  const met = namesMet(conflict);
  if (met.length === 0 || record?.kind !== 'operation') return false;
  return takesOf(tables, record.effects).some(({ table, key, field }) => met.includes(fieldName(table, key, field)));
}
