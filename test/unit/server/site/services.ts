/** Services for tests: a ticket queue, and the bank of RedBlue (OSDI 2012, §4-5). */
import { z } from 'zod';
import type { Throttle } from '../../../../src/correctable/throttle/concurrent-writes.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { queueOperations } from '../../../../src/contract/portable-operations.ts';
import { withMeta } from '../../../../src/server/service/records/reply.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';

export const tickets = defineContract('tickets', { ...queueOperations });

/** The ticket queue; given a pace, tickets are taken at that. */
export const ticketServiceAt = (pace?: Throttle) =>
  defineService(tickets, {
    tables: { queues: table({ items: queue<unknown>() }) },
    shadowOperations: ({ queues }) => ({
      push: red((args: { queue: string; item: unknown }) => [
        queues.row(args.queue).items.push(args.item),
      ]),
      pop: red(
        (args: { queue: string }) => [queues.row(args.queue).items.pop()],
        ([popped]) =>
          withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
      ),
    }),
    generators: {
      enqueue: ({ queue: name, item }, { shadow }) => shadow.push({ queue: name, item }, undefined),
      dequeue: ({ queue: name }, { shadow }) => shadow.pop({ queue: name }),
      peek: ({ queue: name }, { tables }) => {
        const { items } = tables.queues.row(name);
        return items.size === 0 ? null : { item: items.at(0) };
      },
    },
    ...(pace && { alwaysRed: ['dequeue'], throttled: { operations: ['dequeue'], ...pace } }),
  });

export const ticketService = ticketServiceAt();

const account = z.string().min(1);
const cents = z.number().int().positive();

export const bank = defineContract('bank', {
  deposit: { access: 'write', args: z.object({ account, amount: cents }), result: z.null() },
  withdraw: {
    access: 'write',
    args: z.object({ account, amount: cents }),
    result: z.object({ paid: z.boolean() }),
  },
  accrueInterest: {
    access: 'write',
    args: z.object({ account, percent: z.number() }),
    result: z.number(),
  },
  balance: { access: 'read', args: z.object({ account }), result: z.number() },
});

/**
 * The bank with `withdrawAck` of one color or the other: only red keeps balances from going below
 * zero.
 */
export const bankService = (withdrawColor: 'red' | 'blue' = 'red') =>
  defineService(bank, {
    tables: { accounts: table({ balance: counter() }) },
    shadowOperations: ({ accounts }) => {
      const add = (args: { account: string; amount: number }) => [
        accounts.row(args.account).balance.add(args.amount),
      ];
      const take = (args: { account: string; amount: number }) =>
        add({ ...args, amount: -args.amount });
      return {
        deposit: blue(add),
        accrueInterest: blue(add),
        withdrawAck: withdrawColor === 'red' ? red(take) : blue(take),
      };
    },
    generators: {
      deposit: (args, { shadow }) => shadow.deposit(args, null),
      withdraw: (args, { tables, shadow }) => {
        // withdrawFail: nothing changes.
        if (tables.accounts.row(args.account).balance < args.amount) return { paid: false };
        return shadow.withdrawAck(args, { paid: true });
      },
      accrueInterest: (args, { tables, shadow }) => {
        const interest = Math.round(
          (tables.accounts.row(args.account).balance * args.percent) / 100,
        );
        return shadow.accrueInterest({ account: args.account, amount: interest }, interest);
      },
      balance: (args, { tables }) => tables.accounts.row(args.account).balance,
    },
    invariants: { accounts: { 'the balance is never negative': (row) => row.balance >= 0 } },
  });
