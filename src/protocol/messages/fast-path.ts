/**
 * Checks the most frequent rows without their schemas, which cost a page more
 * than all else it does with a row.
 */
import { confirm, type ConfirmMessage } from './confirm.ts';
import { KIND_AT } from './define-message.ts';
import { MAX_NAME_LENGTH } from './field-schemas.ts';
import { ALL_LEVELS, MAX_LEVEL_INDEX } from './level-bits.ts';
import { submit, type SubmitMessage } from './submit.ts';
import { view, type ViewMessage } from './view.ts';

/** Both kinds begin alike. */
const { id: ID, level: LEVEL, seq: SEQ } = view.at;

/**
 * Whether a row is a well-formed `view`, `final` or `confirm` without `meta`.
 * What is not may be well-formed all the same.
 */
export function isSimpleView(
  row: unknown,
): row is ViewMessage | ConfirmMessage {
  if (!Array.isArray(row)) return false;
  const kind: unknown = row[KIND_AT];
  const isView = kind === 'view' || kind === 'final';
  if (!isView && kind !== 'confirm') return false;
  // With or without a version.
  const length = isView ? view.at.version : confirm.at.version;
  return (
    (row.length === length || row.length === length + 1) && hasSimpleHead(row)
  );
}

function hasSimpleHead(row: readonly unknown[]): boolean {
  const id: unknown = row[ID];
  const level: unknown = row[LEVEL];
  return (
    isCount(id) &&
    id > 0 &&
    isCount(level) &&
    level <= MAX_LEVEL_INDEX &&
    isCount(row[SEQ])
  );
}

/**
 * Whether a row is a simple `submit`. A row that is not may be well-formed all
 * the same.
 */
export function isSimpleSubmit(row: unknown): row is SubmitMessage {
  const { at } = submit;
  if (
    !Array.isArray(row) ||
    row[KIND_AT] !== 'submit' ||
    row.length <= at.args ||
    row.length > at.session
  )
    return false;
  const id: unknown = row[at.id];
  const effect: unknown = row[at.access];
  const levels: unknown = row[at.levels];
  return (
    isCount(id) &&
    id > 0 &&
    isShortText(row[at.name]) &&
    (effect === 'write' || effect === 'read') &&
    isCount(levels) &&
    levels > 0 &&
    levels <= ALL_LEVELS &&
    (row.length <= at.key ||
      isAbsent(row[at.key]) ||
      typeof row[at.key] === 'string') &&
    (row.length <= at.timeoutMs ||
      isAbsent(row[at.timeoutMs]) ||
      isCount(row[at.timeoutMs]))
  );
}

function isShortText(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MAX_NAME_LENGTH
  );
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
