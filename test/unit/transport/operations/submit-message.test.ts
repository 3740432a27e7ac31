/** The row that submits an operation: what is left out, and which limit it may have. */
import { describe, expect, test } from 'vitest';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import { MAX_NAME_LENGTH } from '../../../../src/protocol/messages/field-schemas.ts';
import {
  WireSession,
  checkSendable,
  createSubmitMessage,
} from '../../../../src/transport/operations/submit-message.ts';

const NOW_MS = 5_000;
const READ = { name: 'get', access: 'read', args: ['k'] } as const;

function rowOf(context: Partial<InvocationContext>, key?: string): readonly unknown[] {
  const operation = key === undefined ? READ : { ...READ, key };
  return createSubmitMessage({
    id: 7,
    operation,
    levels: 3,
    context: context as InvocationContext,
    wallNowMs: NOW_MS,
  });
}

const START = [7, 'submit', 'get', 'read', 3, ['k']];

describe('what is not there', () => {
  test('at the end → is left out', () => {
    expect(rowOf({})).toEqual(START);
    expect(rowOf({}, 'k')).toEqual([...START, 'k']);
    expect(rowOf({ deadlineAt: NOW_MS + 20 })).toEqual([...START, null, 20]);
    expect(rowOf({ trace: 't' })).toEqual([...START, null, null, 't']);
    expect(rowOf({ deadlineAt: NOW_MS + 20 }, 'k')).toEqual([...START, 'k', 20]);
    expect(rowOf({ trace: 't' }, 'k')).toEqual([...START, 'k', null, 't']);
  });

  test('before what is there → is null', () => {
    const session = new WireSession(['token']);
    expect(rowOf({ session })).toEqual([...START, null, null, null, session.tokens]);
    expect(rowOf({ session, trace: 't', deadlineAt: NOW_MS + 1 }, 'k')).toEqual([
      ...START,
      'k',
      1,
      't',
      session.tokens,
    ]);
  });
});

test('an idempotency key → the last element', () => {
  const session = new WireSession(['token']);
  expect(rowOf({ idempotencyKey: 'i' })).toEqual([
    ...START,
    null,
    null,
    null,
    null,
    null,
    null,
    'i',
  ]);
  expect(rowOf({ idempotencyKey: 'i', session, trace: 't', deadlineAt: NOW_MS + 1 }, 'k')).toEqual([
    ...START,
    'k',
    1,
    't',
    session.tokens,
    null,
    null,
    'i',
  ]);
});

describe('the time that is left', () => {
  test.each([
    ['is no integer of milliseconds → rounded', NOW_MS + 10.6, 11],
    ['is over → none, never a negative one', NOW_MS - 10, 0],
    ['is all there is → no limit', Infinity, undefined],
    ['is longer than a number can say exactly → no limit', NOW_MS + 2 ** 60, undefined],
  ])('%s', (_, deadlineAt, sent) => {
    expect(rowOf({ deadlineAt })[7]).toBe(sent);
  });
});

describe('an operation that a server would take for a malformed row', () => {
  test.each([
    ['no name', { ...READ, name: '' }, 'name'],
    ['a name that is no text', { ...READ, name: 3 }, 'name'],
    ['a name that is too long', { ...READ, name: 'x'.repeat(MAX_NAME_LENGTH + 1) }, 'name'],
    ['another access', { ...READ, access: 'update' }, 'access'],
    ['a key that is no text', { ...READ, key: 3 }, 'key'],
  ])('%s → INVALID_ARGUMENT', (_, operation, field) => {
    expect(() => checkSendable(operation as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }) as Error,
    );
  });

  test('an idempotency key that is too long with its principal → INVALID_ARGUMENT', () => {
    expect(() => checkSendable(READ as never, 'x'.repeat(MAX_NAME_LENGTH + 1))).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'idempotencyKey' }) as Error,
    );
  });

  test('the longest name, a write, a key → sent', () => {
    checkSendable({
      name: 'x'.repeat(MAX_NAME_LENGTH),
      access: 'write',
      args: [],
      key: '',
    } as never);
    checkSendable(READ as never);
  });
});
