/** Balances are what the answered deposits and withdrawals add up to. */
import { tookEffect } from '../history.ts';
import { require } from './checker.ts';
import type { Checker, FinalState } from './checker.ts';

export class AccountChecker implements Checker {
  readonly name = 'accounts';

  finished({ history, sites }: FinalState): void {
    const expected = new Map<string, number>();
    for (const operation of history.answered()) {
      const sign = { deposit: 1, withdraw: -1 }[operation.operation];
      if (sign === undefined || !tookEffect(operation)) continue;
      const { key, amount } = operation.args as { readonly key: string; readonly amount: number };
      expected.set(key, (expected.get(key) ?? 0) + sign * amount);
    }
    for (const [site, { store }] of sites.entries()) {
      for (const [key, balance] of expected) {
        const found = store.read('accounts', key, 'balance');
        require(found === balance, () => `account ${key} holds ${String(found)} at site ${site}, not ${balance}`);
      }
    }
  }
}
