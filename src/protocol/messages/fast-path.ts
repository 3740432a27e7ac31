/**
 * Checks the most frequent messages without their schemas. The schemas cost a
 * page more time than everything else that it does with a message.
 */
import { confirm, type ConfirmMessage } from './confirm.ts';
import { KIND_AT } from './define-message.ts';
import { MAX_NAME_LENGTH } from './field-schemas.ts';
import { ALL_LEVELS, MAX_LEVEL_INDEX } from './level-bits.ts';
import { submit, type SubmitMessage } from './submit.ts';
import { view, type ViewMessage } from './view.ts';

/** Both kinds begin with the same elements. */
const { id: ID, level: LEVEL, seq: SEQ } = view.at;

/**
 * Returns whether a message is a well-formed `view`, `final` or `confirm`
 * without `meta`. Other messages may be well-formed too.
 */
export function isSimpleView(
  message: unknown,
): message is ViewMessage | ConfirmMessage {
  if (!Array.isArray(message)) return false;
  const kind: unknown = message[KIND_AT];
  const isView = kind === 'view' || kind === 'final';
  if (!isView && kind !== 'confirm') return false;
  // The length with and without a version.
  const length = isView ? view.at.version : confirm.at.version;
  return (
    (message.length === length || message.length === length + 1) &&
    hasSimpleHead(message)
  );
}

function hasSimpleHead(message: readonly unknown[]): boolean {
  const id: unknown = message[ID];
  const level: unknown = message[LEVEL];
  return (
    isCount(id) &&
    id > 0 &&
    isCount(level) &&
    level <= MAX_LEVEL_INDEX &&
    isCount(message[SEQ])
  );
}

/**
 * Returns whether a message is a simple `submit`. Other messages may be
 * well-formed too.
 */
export function isSimpleSubmit(message: unknown): message is SubmitMessage {
  const { at } = submit;
  if (
    !Array.isArray(message) ||
    message[KIND_AT] !== 'submit' ||
    message.length <= at.args ||
    message.length > at.session
  )
    return false;
  const id: unknown = message[at.id];
  const access: unknown = message[at.access];
  const levels: unknown = message[at.levels];
  return (
    isCount(id) &&
    id > 0 &&
    isShortText(message[at.name]) &&
    (access === 'write' || access === 'read') &&
    isCount(levels) &&
    levels > 0 &&
    levels <= ALL_LEVELS &&
    (message.length <= at.key ||
      isAbsent(message[at.key]) ||
      typeof message[at.key] === 'string') &&
    (message.length <= at.timeoutMs ||
      isAbsent(message[at.timeoutMs]) ||
      isCount(message[at.timeoutMs]))
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
