/** What a hook is shown of an operation: the same, and nothing that is executed. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CheckedOperation, lent } from '../../../../src/protocol/contract/checked-operation.ts';
import { parseArgs } from '../../../../src/protocol/contract/catalogue.ts';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';

const contract = defineContract('users', {
  add: {
    effect: 'update',
    args: z.object({ name: z.string().transform((name) => name.length), password: z.string() }),
    result: z.null(),
    key: ({ password }) => password,
  },
});

test('lent → as it was checked; what is changed of it changes nothing of what is executed', () => {
  const given = { name: 'anna', password: 'x' };
  const operation = new CheckedOperation('add', 'update', given, contract, contract.operations);
  const shown = lent(operation);
  expect({ ...shown }).toEqual({ ...operation });
  expect(parseArgs(contract, shown)).toEqual({ name: 4, password: 'x' });
  (shown.args as { password: string }).password = '***';
  Object.freeze(operation.args);
  expect(operation.args).toEqual({ name: 4, password: 'x' });
  expect(CheckedOperation.isBy(contract.operations, operation)).toBe(true);
  expect(CheckedOperation.isBy(contract.operations, shown)).toBe(false);
});

test('lent → so too with what its arguments hold', () => {
  const args = z.object({ items: z.array(z.string()), nested: z.object({ a: z.string() }), since: z.date() });
  const deep = defineContract('deep', { put: { effect: 'update', args, result: z.null() } });
  const given = { items: ['secret'], nested: { a: 'other' }, since: new Date(5) };
  const operation = new CheckedOperation('put', 'update', given, deep, deep.operations);
  const shown = lent(operation).args as typeof given;
  expect(shown).toEqual(given);
  shown.items[0] = shown.nested.a = '***';
  shown.since.setTime(6);
  expect(operation.args).toEqual({ items: ['secret'], nested: { a: 'other' }, since: new Date(5) });
});
