/**
 * The check of the rows that each side gets most, without their schemas: the parser of those would cost a page, which may
 * not generate code, more than all else that it does with a row, and even generated code makes objects for each row. It
 * accepts only what the schemas accept; a property test holds it to that.
 */
import type { ConfirmRow } from './confirm.ts';
import { NAME_LENGTH_MAX } from './message-kind.ts';
import { LEVELS_MAX, type SubmitRow } from './submit.ts';
import type { ViewRow } from './view.ts';

const LEVEL_MAX = 30;

/** Whether a row is a well-formed `view`, `final` or `confirm` without `meta`. What is not may be well-formed all the same. */
export function isPlainView(row: unknown): row is ViewRow | ConfirmRow {
  if (!Array.isArray(row)) return false;
  const kind: unknown = row[1];
  if (kind === 'view' || kind === 'final') return (row.length === 5 || row.length === 6) && hasPlainHead(row);
  return kind === 'confirm' && (row.length === 4 || row.length === 5) && hasPlainHead(row);
}

function hasPlainHead(row: readonly unknown[]): boolean {
  const id: unknown = row[0];
  const level: unknown = row[2];
  return isCount(id) && id > 0 && isCount(level) && level <= LEVEL_MAX && isCount(row[3]);
}

/** Whether a row is a well-formed `submit` without `session`, `move` and `again`. What is not may be well-formed all the same. */
export function isPlainSubmit(row: unknown): row is SubmitRow {
  if (!Array.isArray(row) || row[1] !== 'submit' || row.length < 6 || row.length > 9) return false;
  const id: unknown = row[0];
  const levels: unknown = row[4];
  return (
    isCount(id) &&
    id > 0 &&
    isName(row[2]) &&
    (row[3] === 'update' || row[3] === 'read') &&
    isCount(levels) &&
    levels > 0 &&
    levels <= LEVELS_MAX &&
    (row.length < 7 || isAbsent(row[6]) || typeof row[6] === 'string') &&
    (row.length < 8 || isAbsent(row[7]) || isCount(row[7]))
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= NAME_LENGTH_MAX;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
