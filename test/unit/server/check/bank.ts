/** A bank for tests of labeling, right unless a test makes it wrong. */
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { shadow } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';

const args = z.object({ account: z.string().min(1), cents: z.int().positive() });

export const bank = defineContract('bank', {
  deposit: { access: 'write', args, result: z.null() },
  withdraw: { access: 'write', args, result: z.boolean() },
  balance: { access: 'read', args: z.object({ account: z.string().min(1) }), result: z.int() },
});

interface Booking {
  readonly account: string;
  readonly cents: number;
}

/** What a test makes wrong: one thing of the right bank. */
export interface BankFaults {
  /** What a deposit adds, of so many cents. */
  readonly deposited?: (cents: number) => number;
  /** The field that withdrawals take from. */
  readonly takenFrom?: 'balance' | 'limit';
  /** Whether a withdrawal is paid. */
  readonly isPaid?: (balance: number, cents: number) => boolean;
  readonly withdraw?: 'blue' | 'red';
  /** Runs in each generator of a withdrawal. */
  readonly beside?: (booking: Booking) => void;
}

export function bankService(faults: BankFaults = {}): Service {
  const { deposited = (cents) => cents, takenFrom = 'balance', withdraw = 'red', beside } = faults;
  const { isPaid = (balance, cents) => balance >= cents } = faults;
  return defineService(bank, {
    tables: { accounts: table({ balance: counter(), limit: counter() }) },
    shadowOperations: ({ accounts }) => ({
      deposit: shadow(({ account, cents }: Booking) => [
        accounts.row(account).balance.add(deposited(cents)),
      ]),
      withdraw: shadow(({ account, cents }: Booking) => [
        accounts.row(account)[takenFrom].add(-cents),
      ]),
    }),
    colors: { deposit: 'blue', withdraw },
    generators: {
      deposit: (booking, { shadow: chosen }) => chosen.deposit(booking, null),
      withdraw: (booking, { tables, shadow: chosen }) => {
        beside?.(booking);
        if (!isPaid(tables.accounts.row(booking.account).balance, booking.cents)) return false;
        return chosen.withdraw(booking, true);
      },
      balance: ({ account }, { tables }) => tables.accounts.row(account).balance,
    },
    invariants: {
      accounts: {
        notOverdrawn: (row) => row.balance >= 0,
        notBeyondLimit: (row) => row.limit >= 0,
      },
    },
  }) as unknown as Service;
}
