/**
 * Accounts that are ordered near their users: `us/ann` in the partition `us`, if the deployment has
 * it.
 */
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, table, type Service } from 'correctables/server';
import * as z from 'zod';

const booking = z.object({ account: z.string().min(1), cents: z.int() });
type Booking = z.infer<typeof booking>;

export const bank = defineContract('bank', {
  deposit: { access: 'write', partitionBy: 'account', args: booking, result: z.null() },
  withdraw: { access: 'write', partitionBy: 'account', args: booking, result: z.boolean() },
});

export const service: Service = defineService(bank, {
  tables: { accounts: table({ balance: counter() }, { partition: 'key' }) },
  shadowOperations: ({ accounts }) => ({
    deposit: blue((a: Booking) => [accounts.row(a.account).balance.add(a.cents)]),
    withdraw: red((a: Booking) => [accounts.row(a.account).balance.add(-a.cents)]),
  }),
  generators: {
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    withdraw: (args, { tables, shadow }) =>
      tables.accounts.row(args.account).balance < args.cents ? false : shadow.withdraw(args, true),
  },
});
