/** How often a rejected red operation is executed again, and the error with which it ends. */
import { CorrectableError } from '../../../../correctable/errors.ts';
import { parseName, toFieldName } from '../../../service/generator/read-set.ts';
import {
  getConflictingNames,
  type Conflict,
} from '../../../service/records/certification-result.ts';
import { sumTakes } from '../../../service/bounded-takes.ts';
import type { Tables } from '../../../service/tables.ts';
import type { RedRecord } from '../../../service/records/records.ts';
import type { StableRun } from './red-requests.ts';

/** The time of a site, and its limits of retries. */
interface RetryCore {
  readonly nowMs: number;
  readonly options: {
    readonly service: { readonly tables: Tables };
    readonly maxAttempts: number;
    readonly reachTimeoutMs: number;
  };
}

/** The part of a `RedRequest` that decides about its retries. */
interface RetriedRequest {
  readonly attempt: number;
  uncountedRejections: number;
  conflict: Conflict | undefined;
  readonly record: RedRecord | undefined;
  rejectedAtMs: number | undefined;
  heldAtMs: number | undefined;
}

/** A request that was rejected only because of what it depended on has met no conflict itself. */
function noteRejection(
  request: RetriedRequest,
  conflict: Conflict | undefined,
  { nowMs, options }: RetryCore,
): void {
  // A hold is not a conflict of the request. But a row may be held all the time, and then the
  // request has to end.
  if (conflict?.reason === 'held') request.heldAtMs ??= nowMs;
  const isHeld =
    conflict?.reason === 'held' && nowMs - (request.heldAtMs ?? nowMs) < options.reachTimeoutMs;
  if (conflict?.reason === 'predecessor' || isHeld) {
    request.uncountedRejections += 1;
  } else {
    request.conflict = conflict;
    request.rejectedAtMs ??= nowMs;
  }
}

/**
 * Notes a rejection. Returns whether to execute the request again. It is executed `maxAttempts`
 * times, and one that takes from a row for as long as it may wait.
 */
export function shouldRetry(
  core: RetryCore,
  request: RetriedRequest,
  rejectedBy: Conflict | undefined,
): boolean {
  const { options, nowMs } = core;
  noteRejection(request, rejectedBy, core);
  const { attempt, uncountedRejections, rejectedAtMs = nowMs } = request;
  if (attempt - uncountedRejections < options.maxAttempts) return true;
  return (
    isTakeConflict(request, options.service.tables) && nowMs - rejectedAtMs < options.reachTimeoutMs
  );
}

/** Whether the conflict is about a field from which the last attempt has taken. */
function isTakeConflict({ conflict, record }: RetriedRequest, tables: Tables): boolean {
  const conflicting = getConflictingNames(conflict);
  if (conflicting.length === 0 || record?.kind !== 'operation') return false;
  return sumTakes(tables, record.effects).some(({ table, key, field }) =>
    conflicting.includes(toFieldName(table, key, field)),
  );
}

/** The part of a `RedRequest` that explains why it was rejected. */
interface RejectedRequest {
  readonly submission: { readonly plan: { readonly name: string } };
  readonly attempt: number;
  readonly uncountedRejections: number;
  readonly conflict: Conflict | undefined;
  readonly run: StableRun | undefined;
}

const ADVICE =
  'Retry; where many take from the same, let an effect decide when it is applied (a queue, for numbers a stock), which is never rejected.';

export function conflictError({
  submission,
  attempt,
  uncountedRejections,
  conflict,
  run,
}: RejectedRequest): CorrectableError {
  const { name } = submission.plan;
  const count = attempt - uncountedRejections;
  const times = count === 1 ? 'once' : `${count} times`;
  const message =
    `'${name}' was executed ${times}, and each time ${describeConflict(conflict, run)}. Nothing was changed. ` +
    (conflict?.reason === 'aborted' ? 'Retry.' : ADVICE);
  return new CorrectableError('CONFLICT', message, {
    field: `operations.${name}`,
  });
}

function describeConflict(conflict: Conflict | undefined, run: StableRun | undefined): string {
  switch (conflict?.reason) {
    case 'name':
      return `a red operation before it had changed what it ${describeUse(conflict.name, run)} (lastly ${formatName(conflict.name)})`;
    case 'range': {
      const { table, field } = conflict.range;
      return `a red operation before it had changed what it scans (lastly ${table}${field === undefined ? '' : ` by ${field}`})`;
    }
    case 'window':
      return 'so many red operations came before it that what they changed is no longer known (its site is far behind)';
    case 'held':
      return `an operation over several partitions held what it reads or writes (lastly ${formatName(conflict.name)})`;
    case 'aborted':
      return 'a red log of another partition took too long to hold what it reads or writes';
    case 'predecessor':
    case undefined:
      return 'red operations before it had changed what it reads or writes';
  }
}

/**
 * Some writes are certified too (`findCertifiedReads`). The run is not kept if it depended on
 * undecided operations.
 */
function describeUse(name: string, run: StableRun | undefined): string {
  if (run === undefined) return 'reads or writes';
  return run.outcome.reads.names.has(name) ? 'reads' : 'writes';
}

/** Formats a field as `events/e.free`, and a row as `events/e`. */
function formatName(name: string): string {
  const { table, key, field } = parseName(name);
  return `${table}${key === undefined ? '' : `/${key}`}${field === undefined ? '' : `.${field}`}`;
}
