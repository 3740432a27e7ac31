/** The details of a `CONFLICT`: which operation, what it met, how often, and what would have prevented it. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Conflict } from '../../records/certification-result.ts';
import { parseName } from '../../generator/read-set.ts';
import type { RedRequest } from './red-requests.ts';

type RejectedRequest = Pick<RedRequest, 'submission' | 'attempt' | 'uncountedRejections' | 'conflict' | 'run'>;

export function conflictError({
  submission,
  attempt,
  uncountedRejections,
  conflict,
  run,
}: RejectedRequest): CorrectableError {
  const { operation } = submission;
  const count = attempt - uncountedRejections;
  const times = count === 1 ? 'once' : `${count} times`;
  const message =
    `'${operation}' was executed ${times}, and each time ${describeConflict(conflict, run)}. Nothing was changed. Retry; where many take` +
    ' from the same, let an effect decide when it is applied (a queue, for numbers a stock), which is never rejected.';
  return new CorrectableError('CONFLICT', message, { field: `operations.${operation}` });
}

function describeConflict(conflict: Conflict | undefined, run: RejectedRequest['run']): string {
  switch (conflict?.reason) {
    case 'name':
      return `a red operation before it had changed what it ${describeUse(conflict.name, run)} (lastly ${formatName(conflict.name)})`;
    case 'range': {
      const { table, field } = conflict.range;
      return `a red operation before it had changed what it scans (lastly ${table}${field === undefined ? '' : ` by ${field}`})`;
    }
    case 'window':
      return 'so many red operations came before it that what they changed is no longer known (its site is far behind)';
    case 'predecessor':
    case undefined:
      return 'red operations before it had changed what it reads or writes';
  }
}

/** Some writes are certified too (`findCertifiedReads`). Nothing is kept of a run on what was not decided. */
function describeUse(name: string, run: RejectedRequest['run']): string {
  if (run === undefined) return 'reads or writes';
  return run.outcome.reads.names.has(name) ? 'reads' : 'writes';
}

/** `events/e.free` of a field, `events/e` of a row. */
function formatName(name: string): string {
  const { table, key, field } = parseName(name);
  return `${table}${key === undefined ? '' : `/${key}`}${field === undefined ? '' : `.${field}`}`;
}
