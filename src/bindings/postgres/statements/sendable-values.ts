/**
 * Checks values that a driver cannot encode, or that PostgreSQL refuses in any column. If the
 * driver threw under a write, its outcome would be unknown, and a statement that it was about to
 * prepare would fail for ever.
 */
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import { isDate } from '../../../values/value-kinds.ts';
import { NO_ZERO } from '../own-arguments.ts';

/** Objects in objects are checked by `JSON.stringify`, arrays one by one. */
const MAX_DEPTH = 100;

/** @throws CorrectableError `INVALID_ARGUMENT` that names `field` */
export function checkSendable(value: unknown, field: string): void {
  const problem = findProblem(value, 0);
  if (problem !== undefined) throw createInvalidArgumentError(field, problem);
}

function findProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.includes('\0') ? NO_ZERO : undefined;
  if (typeof value === 'function' || typeof value === 'symbol')
    return `a ${typeof value} cannot be sent`;
  if (typeof value !== 'object' || value === null) return undefined;
  return findInObject(value, depth);
}

function findInObject(value: object, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return 'it is nested too deeply, or contains itself';
  if (ArrayBuffer.isView(value)) return undefined;
  if (isDate(value))
    return Number.isNaN(value.getTime())
      ? 'the date is invalid: give a valid one, or null'
      : undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = findProblem(item, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  try {
    const { toPostgres } = value as { toPostgres?: () => unknown };
    if (typeof toPostgres === 'function') return undefined;
    JSON.stringify(value); // A column of type json has all that this has.
    return undefined;
  } catch (cause) {
    return `it cannot be written as JSON: ${String(cause)}`;
  }
}
