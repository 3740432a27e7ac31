/** What is done to one account of the bank. */
import type { HistoryStep } from '../../src/testing/index.ts';
import { bank } from '../unit/server/site/services.ts';

export function createBankHistory(account: string): readonly HistoryStep[] {
  return [1, 2, 3, 4].flatMap((n) => [
    { operation: bank.deposit({ account, amount: n }) },
    { operation: bank.balance({ account }), expected: (n * (n + 1)) / 2 },
  ]);
}
