/**
 * The check of the rows that a client gets most, without its schema: a page may not generate code, and the parser of the
 * schemas would cost a client more than all else that it does with such a row. It accepts only what the schemas accept;
 * a property test holds it to that.
 */
import type { ConfirmRow } from './confirm.ts';
import type { ViewRow } from './view.ts';

const LEVEL_MAX = 30;

/** Whether a row is a well-formed `view` or `confirm` without `meta`. What is not may be well-formed all the same. */
export function isPlainView(row: unknown): row is ViewRow | ConfirmRow {
  if (!Array.isArray(row)) return false;
  const kind: unknown = row[1];
  if (kind === 'view') return (row.length === 5 || row.length === 6) && hasPlainHead(row);
  return kind === 'confirm' && (row.length === 4 || row.length === 5) && hasPlainHead(row);
}

function hasPlainHead(row: readonly unknown[]): boolean {
  const [id, , level, seq] = row;
  return isCount(id) && id > 0 && isCount(level) && level <= LEVEL_MAX && isCount(seq);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
