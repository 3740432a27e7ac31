import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  restoreInputArgs,
  checkOperation,
  isRegistered,
  parseArgs,
  type OperationRegistry,
  type RegisteredOperation,
} from '../../../src/contract/operation-registry.ts';
import { checkOperationOf } from '../../support/checked-operation.ts';
import { CheckedOperation } from '../../../src/protocol/hosting.ts';
import type { Operation } from '../../../src/correctable/operation.ts';

const catalogue: OperationRegistry = {
  name: 'shop',
  hash: 'f00',
  operations: {
    dequeue: {
      access: 'write',
      args: z.object({ queue: z.string(), count: z.number().default(1) }),
    },
  },
};
const dequeue: Operation = {
  name: 'dequeue',
  access: 'write',
  args: { queue: 'q', count: 2 },
  key: 'q',
};

test('listed operation → is sent as it was given; who executes it gets what the schema fills in', () => {
  expect(isRegistered(catalogue, dequeue)).toBe(true);
  const short = { ...dequeue, args: { queue: 'q' } };
  expect(checkOperation(catalogue, short)).toBe(short);
  expect(parseArgs(catalogue, short)).toEqual({ queue: 'q', count: 1 });
});

test('operation that a gateway has parsed → is sent on as it came, and parsed from that', () => {
  const cents: OperationRegistry = {
    ...catalogue,
    operations: {
      pay: {
        access: 'write',
        args: z.object({ euros: z.number().transform((euros) => euros * 100) }),
        key: (args) => `of ${(args as { euros: number }).euros}`,
      },
    },
  };
  const parsed = checkOperationOf('pay', { euros: 5 }, cents);
  expect(parsed.args).toEqual({ euros: 500 });
  expect(checkOperation(cents, parsed)).toMatchObject({
    name: 'pay',
    args: { euros: 5 },
    key: 'of 500',
  });
  expect(parseArgs(cents, parsed)).toEqual({ euros: 500 });
  expect(restoreInputArgs(parsed)).toEqual({
    name: 'pay',
    access: 'write',
    args: { euros: 5 },
    key: 'of 500',
  });
});

test.each<[what: string, key: Partial<RegisteredOperation>, expected: string | undefined]>([
  ['one key', { key: (args) => `q/${(args as { queue: string }).queue}` }, 'q/mine'],
  ['none for these arguments', { key: () => undefined as never }, undefined],
  ['no keys', {}, undefined],
])('key, contract that makes %s → the key of the contract', (_, key, expected) => {
  const operations = { dequeue: { ...catalogue.operations['dequeue']!, ...key } };
  const args = { queue: 'mine' };
  const value = { ...catalogue, operations };
  expect(checkOperationOf('dequeue', args, value).key).toBe(expected);
});

test.each<[what: string, key: () => unknown, cause: string]>([
  ['throws', () => Object.keys(undefined as never), 'Cannot convert undefined'],
  ['gives no text', () => 7, 'of type number'],
  [
    'returns a promise that rejects',
    () => Promise.reject(new Error('no caller waits for it')),
    'of type object',
  ],
])('key of a contract %s → INVALID_ARGUMENT with the cause', (_, key, cause) => {
  const operations = { dequeue: { ...catalogue.operations['dequeue']!, key: key as () => string } };
  const args = { queue: 'mine' };
  expect(() => checkOperationOf('dequeue', args, { ...catalogue, operations })).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'args',
      cause: expect.objectContaining({
        message: expect.stringContaining(cause) as string,
      }) as Error,
    }) as Error,
  );
});

test('copy of an operation that a gateway has parsed → has the arguments that it was given, and is not checked', () => {
  const parsed = checkOperationOf('dequeue', { queue: 'q' }, catalogue, {});
  const args = { queue: 'tenant-7/q', count: 1 };
  for (const copy of [
    { ...parsed, args },
    Object.create(parsed, { args: { value: args } }) as Operation,
  ]) {
    expect(restoreInputArgs(copy)).toBe(copy);
    expect(parseArgs(catalogue, copy)).toEqual(args);
    expect(CheckedOperation.getPrepared(copy)).toBeUndefined();
  }
});

test('unlisted operation → UNSUPPORTED that names the listed ones', () => {
  for (const name of ['drop', 'constructor', '__proto__']) {
    expect(isRegistered(catalogue, { ...dequeue, name })).toBe(false);
    expect(() => checkOperation(catalogue, { ...dequeue, name })).toThrow(/only dequeue/);
  }
});

test('bad argument → INVALID_ARGUMENT naming the field', () => {
  const bad = { ...dequeue, args: { queue: 7 } };
  expect(() => checkOperation(catalogue, bad)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.queue' }) as Error,
  );
});

test('another effect than in the contract → INVALID_ARGUMENT', () => {
  expect(() => checkOperation(catalogue, { ...dequeue, access: 'read' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'access' }) as Error,
  );
});
