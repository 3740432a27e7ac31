/**
 * A bank whose accounts are ordered by the partition that their keys name, at sites with two red
 * logs.
 */
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import { createPartitions } from '../../../../../../src/server/service/partitions.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { counter, register, table } from '../../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { SiteWorld, type WorldOptions } from '../../../../../support/site-world.ts';

const account = z.string();
const amount = z.number();
const booking = z.object({ account, amount });

export const bank = defineContract('bank', {
  deposit: { access: 'write', partitionBy: 'account', args: booking, result: z.null() },
  withdraw: { access: 'write', partitionBy: 'account', args: booking, result: z.boolean() },
  transfer: {
    access: 'write',
    partitionBy: 'from',
    args: z.object({ from: account, to: account, amount }),
    result: z.boolean(),
  },
  withdrawAnywhere: { access: 'write', args: booking, result: z.boolean() },
  setFee: { access: 'write', args: z.object({ amount }), result: z.null() },
  setFeeByRed: { access: 'write', args: z.object({ amount }), result: z.null() },
  tag: { access: 'write', args: z.object({ account }), result: z.null() },
  untag: { access: 'write', args: z.object({ account }), result: z.null() },
  balance: {
    access: 'read',
    partitionBy: 'account',
    args: z.object({ account }),
    result: z.number(),
  },
  pair: {
    access: 'read',
    partitionBy: 'first',
    args: z.object({ first: account, second: account, number: z.int() }),
    result: z.array(z.number()),
  },
  sum: {
    access: 'read',
    partitionBy: 'prefix',
    args: z.object({ prefix: z.string() }),
    result: z.number(),
  },
});

interface Booking {
  readonly account: string;
  readonly amount: number;
}

export const partitionedBank = defineService(bank, {
  tables: {
    accounts: table({ balance: counter() }, { partition: 'key' }),
    fees: table({ amount: register<number>() }, { partition: 'none' }),
    tags: table({ uses: counter() }, { removable: true }),
  },
  shadowOperations: ({ accounts, fees, tags }) => ({
    deposit: blue((a: Booking) => [accounts.row(a.account).balance.add(a.amount)]),
    withdraw: red((a: Booking) => [accounts.row(a.account).balance.add(-a.amount)]),
    move: red((a: { from: string; to: string; amount: number }) => [
      accounts.row(a.from).balance.add(-a.amount),
      accounts.row(a.to).balance.add(a.amount),
    ]),
    setFee: blue((a: { amount: number }) => [fees.row('fee').amount.write(a.amount)]),
    tag: blue((a: { account: string }) => [tags.row(a.account).uses.add(1)]),
    untag: blue((a: { account: string }) => [tags.remove(a.account)]),
    setFeeByRed: red((a: { amount: number }) => [fees.row('fee').amount.write(a.amount)]),
  }),
  generators: {
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    withdraw: (args, { tables, shadow }) => {
      const total = args.amount + (tables.fees.row('fee').amount ?? 0);
      return tables.accounts.row(args.account).balance < total
        ? false
        : shadow.withdraw({ ...args, amount: total }, true);
    },
    withdrawAnywhere: (args, { tables, shadow }) =>
      tables.accounts.row(args.account).balance < args.amount ? false : shadow.withdraw(args, true),
    transfer: (args, { tables, shadow }) =>
      tables.accounts.row(args.from).balance < args.amount ? false : shadow.move(args, true),
    setFee: (args, { shadow }) => shadow.setFee(args, null),
    setFeeByRed: (args, { shadow }) => shadow.setFeeByRed(args, null),
    tag: (args, { shadow }) => shadow.tag(args, null),
    untag: (args, { shadow }) => shadow.untag(args, null),
    balance: ({ account: name }, { tables }) => tables.accounts.row(name).balance,
    pair: ({ first, second }, { tables }) =>
      [first, second].map((key) => tables.accounts.row(key).balance),
    sum: ({ prefix }, { tables }) =>
      tables.accounts
        .keys({ prefix })
        .reduce((sum, key) => sum + tables.accounts.row(key).balance, 0),
  },
});

export const call = (name: keyof typeof bank.operations, args: object) => ({ name, args });
export const deposit = (name: string, sum: number) =>
  call('deposit', { account: name, amount: sum });
export const withdraw = (name: string, sum: number) =>
  call('withdraw', { account: name, amount: sum });
export const balance = (name: string) => call('balance', { account: name });

/** The leader of `main`, and that of `us`. */
export const [MAIN_LEADER, US_LEADER, FOLLOWER] = [0, 1, 2] as const;

/** Options of three sites with the partitions `main` and `us`. */
export const TWO_LOGS: WorldOptions = {
  service: partitionedBank,
  partitions: createPartitions(partitionedBank as unknown as Service, { us: {} }),
  redLogs: [{ leader: siteAt(US_LEADER) }],
};

export const createWorld = (options: WorldOptions = {}): SiteWorld =>
  new SiteWorld({ ...TWO_LOGS, ...options });
