/**
 * Types of a contract: what is written of an operation stays, and types its `key` and `equals`
 * where they are written.
 */
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../src/correctable/operation.ts';
import { defineContract, isDomainError, operation } from '../../src/contract/contract.ts';
import type { Contract, OperationSpecs } from '../../src/contract/contract.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../src/server/service/tables.ts';

const args = z.object({ account: z.string(), amount: z.string().transform(Number) });
const errors = { notEnough: z.object({ balance: z.int() }) };

const bank = defineContract('bank', {
  withdraw: {
    access: 'write',
    color: 'red',
    args,
    result: z.int().nullable(),
    errors: { notEnough: z.object({ balance: z.int() }) },
    key: (value) => {
      expectTypeOf(value).toEqualTypeOf<{ account: string; amount: number }>();
      return value.account;
    },
    equals: (a, b) => {
      expectTypeOf(a).toEqualTypeOf<number | null>();
      return a === b;
    },
  },
  pay: { access: 'write', color: 'blue', args, result: z.null(), key: ({ account }) => account },
  balance: {
    access: 'read',
    args: z.object({ account: z.string() }),
    result: z.int(),
    key: ({ account }) => account,
  },
  total: { access: 'read', args: z.object({}), result: z.int() },
});

const withdraw = operation({
  access: 'write',
  color: 'red',
  args,
  result: z.int().nullable(),
  errors,
  key: (value) => {
    expectTypeOf(value).toEqualTypeOf<{ account: string; amount: number }>();
    return value.account;
  },
  equals: (a, b) => {
    expectTypeOf(a).toEqualTypeOf<number | null>();
    return a === b;
  },
});
const pay = operation({
  access: 'write',
  color: 'blue',
  args,
  result: z.null(),
  key: ({ account }) => account,
});
const apart = defineContract('bank', { withdraw, pay });

/** Called where it is used: nothing of what a contract wants is taken for what is written. */
const within = defineContract('bank', {
  withdraw: operation({
    access: 'write',
    color: 'red',
    args,
    result: z.int().nullable(),
    errors,
    key: (value) => {
      expectTypeOf(value).toEqualTypeOf<{ account: string; amount: number }>();
      return value.account;
    },
  }),
  pay: operation({
    access: 'write',
    color: 'blue',
    args,
    result: z.null(),
    key: ({ account }) => account,
  }),
  total: { access: 'read', args: z.object({}), result: z.int() },
});

const tables = { accounts: table({ balance: counter() }) };

/** The levels of what a client gets from an operation that was built. */
type LevelOf<B extends (args: never) => Operation> =
  ReturnType<B> extends Operation<unknown, infer Reach extends { readonly levels: string }>
    ? Reach['levels']
    : never;

describe('the declaration of an operation', () => {
  test('color → determines the levels, inline and by operation()', () => {
    expectTypeOf<LevelOf<typeof bank.pay>>().toEqualTypeOf<'causal'>();
    expectTypeOf<LevelOf<typeof apart.pay>>().toEqualTypeOf<'causal'>();
    expectTypeOf<LevelOf<typeof within.pay>>().toEqualTypeOf<'causal'>();
    expectTypeOf<LevelOf<typeof apart.withdraw>>().toEqualTypeOf<'tentative' | 'strong'>();
    expectTypeOf<LevelOf<typeof bank.balance>>().toEqualTypeOf<'causal' | 'strong'>();
  });

  test('errors → what they say, inline and by operation()', () => {
    const error: unknown = undefined;
    for (const of of [
      bank.operations.withdraw,
      apart.operations.withdraw,
      within.operations.withdraw,
      withdraw,
    ]) {
      if (isDomainError(error, of, 'notEnough'))
        expectTypeOf(error.domain.data).toEqualTypeOf<{ balance: number }>();
    }
    // @ts-expect-error it has no such error
    isDomainError(error, apart.operations.withdraw, 'closed');
  });

  test('arguments and results → those of the schemas, by operation() in the contract too', () => {
    expectTypeOf(within.withdraw).parameter(0).toEqualTypeOf<{ account: string; amount: string }>();
    expectTypeOf(within.withdraw).returns.toExtend<Operation<number | null>>();
    expectTypeOf(apart.withdraw).parameter(0).toEqualTypeOf<{ account: string; amount: string }>();
  });

  test('a service of it → is held to colors and errors', () => {
    defineService(apart, {
      tables,
      shadowOperations: ({ accounts }) => ({
        take: red((a: { account: string; amount: number }) => [
          accounts.row(a.account).balance.add(-a.amount),
        ]),
        give: blue((a: { account: string; amount: number }) => [
          accounts.row(a.account).balance.add(a.amount),
        ]),
      }),
      generators: {
        withdraw: (value, { tables: { accounts }, shadow, errors: refuse }) => {
          const { balance } = accounts.row(value.account);
          if (balance < value.amount) throw refuse.notEnough({ balance });
          return shadow.take(value, balance);
        },
        // @ts-expect-error a red shadow operation of an operation declared blue
        pay: (value, { shadow }) => shadow.take(value, null),
      },
    });
  });

  test('a type error → reported where it is written', () => {
    const string = z.string();
    const owned = z.object({ owner: string });
    defineContract('x', {
      // @ts-expect-error no such argument
      read: { access: 'read', args: owned, result: string, key: (value) => value.ownr },
    });
    defineContract('x', {
      // @ts-expect-error a key of other arguments
      read: { access: 'read', args: owned, result: string, key: (a: { id: string }) => a.id },
    });
    // @ts-expect-error a key is a text
    defineContract('x', { read: { access: 'read', args: owned, result: string, key: () => 1 } });
    // @ts-expect-error no such effect
    defineContract('x', { read: { access: 'reed', args: owned, result: string } });
    // @ts-expect-error no result
    defineContract('x', { read: { access: 'read', args: owned } });
    // @ts-expect-error no such argument
    operation({ access: 'read', args: owned, result: string, key: (value) => value.ownr });
  });

  test('partitionBy → an argument that is always text', () => {
    const changed = z.object({
      to: z.string(),
      cents: z.int(),
      note: z.string().optional(),
      region: z.enum(['us', 'eu']),
    });
    const write = { access: 'write', args: changed, result: z.null() } as const;
    const placed = defineContract('x', {
      pay: { ...write, partitionBy: 'to' },
      move: { ...write, partitionBy: 'region' },
      sweep: { ...write, partition: 'us' },
      give: operation({ ...write, partitionBy: 'to', key: ({ to }) => to }),
    });
    expectTypeOf(placed.operations.pay.partitionBy).toEqualTypeOf<'to'>();
    expectTypeOf(placed.pay).parameter(0).toEqualTypeOf<z.input<typeof changed>>();
    // @ts-expect-error a number
    defineContract('x', { pay: { ...write, partitionBy: 'cents' } });
    // @ts-expect-error text, if it is there
    defineContract('x', { pay: { ...write, partitionBy: 'note' } });
    // @ts-expect-error no such argument
    defineContract('x', { pay: { ...write, partitionBy: 'from' } });
    // @ts-expect-error no such argument
    operation({ ...write, partitionBy: 'from' });
    // @ts-expect-error no name
    defineContract('x', { pay: { ...write, partition: 1 } });
  });

  test('any operations → any contract', () => {
    const any = {} as OperationSpecs;
    expectTypeOf(defineContract('x', any)).toExtend<Contract>();
  });
});
