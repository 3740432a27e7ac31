/** The hand-written service: a transfer is one red operation, as a withdrawal is in `demo/bank`. */
import { defineContract } from 'correctables/contract';
import { counter, defineService, red, table, type Service } from 'correctables/server';
import * as z from 'zod';

const account = z.string().min(1);
const cents = z.int().positive();

export const bank = defineContract('bank', {
  open: {
    access: 'write',
    args: z.object({ accounts: z.array(account), cents }),
    result: z.null(),
  },
  /** Returns the remaining balance, or null if it is too low. */
  transfer: {
    access: 'write',
    args: z.object({ from: account, to: account, cents }),
    result: z.int().nullable(),
  },
  balances: {
    access: 'read',
    args: z.object({ accounts: z.array(account) }),
    result: z.array(z.int()),
  },
});

interface Opening {
  readonly accounts: readonly string[];
  readonly cents: number;
}

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly cents: number;
}

export const service: Service = defineService(bank, {
  tables: { accounts: table({ balance: counter() }) },
  shadowOperations: ({ accounts }) => ({
    open: red((args: Opening) =>
      args.accounts.map((name) => accounts.row(name).balance.add(args.cents)),
    ),
    transfer: red((args: Transfer) => [
      accounts.row(args.from).balance.add(-args.cents),
      accounts.row(args.to).balance.add(args.cents),
    ]),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    transfer: (args, { tables, shadow }) => {
      const left = tables.accounts.row(args.from).balance - args.cents;
      return left < 0 ? null : shadow.transfer(args, left);
    },
    balances: ({ accounts }, { tables }) =>
      accounts.map((name) => tables.accounts.row(name).balance),
  },
});
