/** What a hook is shown of an operation: the same, and nothing that is executed. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CheckedOperation, borrowOperation } from '../../../src/protocol/hosting.ts';
import { checkOperationOf } from '../../support/checked-operation.ts';
import { parseArgs } from '../../../src/contract/operation-registry.ts';
import { defineContract } from '../../../src/contract/contract.ts';

const contract = defineContract('users', {
  add: {
    access: 'write',
    args: z.object({ name: z.string().transform((name) => name.length), password: z.string() }),
    result: z.null(),
    key: ({ password }) => password,
  },
});

test('lent → as it was checked; what is changed of it changes nothing of what is executed', () => {
  const value = { name: 'anna', password: 'x' };
  const prepared = {};
  const operation = checkOperationOf('add', value, contract, prepared);
  const shown = borrowOperation(operation);
  expect({ ...shown }).toEqual({ ...operation });
  expect(parseArgs(contract, shown)).toEqual({ name: 4, password: 'x' });
  (shown.args as { password: string }).password = '***';
  Object.freeze(operation.args);
  expect(operation.args).toEqual({ name: 4, password: 'x' });
  expect(CheckedOperation.getPrepared(operation)).toBe(prepared);
  expect(CheckedOperation.getPrepared(shown)).toBeUndefined();
});

test('lent → so too with what its arguments hold', () => {
  const args = z.object({
    items: z.array(z.string()),
    nested: z.object({ a: z.string() }),
    since: z.date(),
  });
  const deep = defineContract('deep', { put: { access: 'write', args, result: z.null() } });
  const value = { items: ['secret'], nested: { a: 'other' }, since: new Date(5) };
  const operation = checkOperationOf('put', value, deep);
  const shown = borrowOperation(operation).args as typeof value;
  expect(shown).toEqual(value);
  shown.items[0] = shown.nested.a = '***';
  shown.since.setTime(6);
  expect(operation.args).toEqual({ items: ['secret'], nested: { a: 'other' }, since: new Date(5) });
});

test('lent → what a schema has made stays of its class, and keeps what it has', () => {
  class Money {
    readonly cents = 5;
  }
  const MARK = Symbol('mark');
  const memory = Buffer.alloc(1000, 7);
  const args = z.object({ hash: z.string() }).transform(({ hash }) => ({
    hash: Buffer.from(hash),
    part: memory.subarray(10, 12),
    money: new Money(),
    seen: new Map([['a', 1]]),
    [MARK]: [1],
  }));
  const made = defineContract('made', { put: { access: 'write', args, result: z.null() } });
  const operation = checkOperationOf('put', { hash: 'xy' }, made);
  type Made = z.output<typeof args>;
  const [shown, own] = [borrowOperation(operation).args as Made, operation.args as Made];
  expect(shown.hash.toString('hex')).toBe('7879');
  expect(shown.money).toBeInstanceOf(Money);
  expect(shown.part.buffer.byteLength).toBe(2);
  shown.hash[0] = shown.part[0] = shown[MARK][0] = 0;
  shown.seen.clear();
  expect([own.hash.toString(), own.part[0], own[MARK], own.seen.size]).toEqual(['xy', 7, [1], 1]);
});
