/** The service under load: values of sixteen bytes, and accounts. */
import { defineContract } from 'correctables/contract';
import {
  blue,
  counter,
  defineService,
  red,
  register,
  table,
  type Service,
} from 'correctables/server';
import * as z from 'zod';

const account = z.string().min(1);

export const load = defineContract('load', {
  set: {
    access: 'write',
    args: z.object({ key: z.string(), value: z.string() }),
    result: z.null(),
  },
  value: { access: 'read', args: z.object({ key: z.string() }), result: z.string().nullable() },
  deposit: { access: 'write', args: z.object({ account, cents: z.int() }), result: z.null() },
  depositToEach: {
    access: 'write',
    args: z.object({ accounts: z.array(account), cents: z.int() }),
    result: z.null(),
  },
  withdraw: { access: 'write', args: z.object({ account, cents: z.int() }), result: z.boolean() },
  balance: { access: 'read', args: z.object({ account }), result: z.int() },
});

interface Booking {
  readonly account: string;
  readonly cents: number;
}

export const service: Service = defineService(load, {
  tables: { values: table({ value: register<string>() }), accounts: table({ balance: counter() }) },
  shadowOperations: ({ values, accounts }) => ({
    set: blue((a: { key: string; value: string }) => [values.row(a.key).value.write(a.value)]),
    deposit: blue((a: Booking) => [accounts.row(a.account).balance.add(a.cents)]),
    depositToEach: blue((a: { accounts: readonly string[]; cents: number }) =>
      a.accounts.map((name) => accounts.row(name).balance.add(a.cents)),
    ),
    withdraw: red((a: Booking) => [accounts.row(a.account).balance.add(-a.cents)]),
  }),
  generators: {
    set: (args, { shadow }) => shadow.set(args, null),
    value: (args, { tables }) => tables.values.row(args.key).value ?? null,
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    depositToEach: (args, { shadow }) => shadow.depositToEach(args, null),
    withdraw: (args, { tables, shadow }) =>
      tables.accounts.row(args.account).balance < args.cents ? false : shadow.withdraw(args, true),
    balance: (args, { tables }) => tables.accounts.row(args.account).balance,
  },
});
