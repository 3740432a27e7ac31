/**
 * The bank's implementation (RedBlue, OSDI 2012, Figure 4): each operation is a generator, which
 * decides at one site, and a shadow operation, which changes all of them.
 *
 * Interest shows why generators are needed. If every site computed the interest, it would not
 * commute with deposits (Figure 3). Here the generator computes it once, and the shadow operation
 * adds that amount.
 */
import { blue, counter, defineService, shadow, table, type Service } from 'correctables/server';
import { bank } from './contract.ts';

/** 5 %. */
const INTEREST = 0.05;

interface Booking {
  readonly account: string;
  readonly cents: number;
}

/**
 * Creates the bank. The correct label of its withdrawals is `red`. All effects commute, so the
 * sites converge with both labels. But only a red withdrawal is checked against other withdrawals,
 * which prevents a negative balance (§5.3).
 */
export function bankService(withdrawals: 'red' | 'blue' = 'red'): Service {
  return defineService(bank, {
    tables: { accounts: table({ balance: counter() }) },
    shadowOperations: ({ accounts }) => {
      const booked = ({ account, cents }: Booking) => [accounts.row(account).balance.add(cents)];
      return {
        deposit: blue(booked),
        accrueInterest: blue(booked),
        withdrawAck: shadow(({ account, cents }: Booking) => [
          accounts.row(account).balance.add(-cents),
        ]),
      };
    },
    colors: { withdrawAck: withdrawals },
    generators: {
      deposit: (args, { shadow }) => shadow.deposit(args, null),
      withdraw: (args, { tables, shadow }) => {
        // The paper's withdrawFail': it changes nothing, so nothing is replicated.
        if (tables.accounts.row(args.account).balance < args.cents) return { paid: false };
        return shadow.withdrawAck(args, { paid: true });
      },
      accrueInterest: ({ account }, { tables, shadow }) => {
        const cents = Math.floor(tables.accounts.row(account).balance * INTEREST);
        return shadow.accrueInterest({ account, cents }, { cents });
      },
      balance: ({ account }, { tables }) => tables.accounts.row(account).balance,
    },
    invariants: { accounts: { 'the balance is never negative': (row) => row.balance >= 0 } },
  });
}

export const service: Service = bankService();
