/**
 * Balances are what the answered operations add up to; those whose outcome is not known may count
 * or not.
 */
import { isBlue, tookEffect } from '../operation-traits.ts';
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import { canBeLost, assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type { Checker, FinalState } from '../../../src/testing/simulator/checkers/checker.ts';

export class AccountChecker implements Checker {
  readonly name = 'accounts';

  onFinished({ history, sites, lost }: FinalState): void {
    const bounds = new Map<string, { least: number; most: number }>();
    for (const operation of history.operations) {
      const changes = changesOf(operation);
      if (changes.length === 0) continue;
      const isSure = operation.replies.length > 0 && !canBeLost(history, operation, lost);
      const widen = (key: string, added: readonly number[]): void => {
        const bound = bounds.get(key) ?? { least: 0, most: 0 };
        bound.least += isSure ? Math.min(...added) : Math.min(0, ...added);
        bound.most += isSure ? Math.max(...added) : Math.max(0, ...added);
        bounds.set(key, bound);
      };
      widen(String(operation.args['key']), changes);
      if (operation.operation === 'transfer')
        widen(
          String(operation.args['to']),
          changes.map((amount) => -amount),
        );
    }
    for (const { site, state } of sites) {
      for (const [key, { least, most }] of bounds) {
        const found = state.store.read('accounts', key, 'balance') as number;
        assertProperty(
          found >= least && found <= most,
          () => `account ${key} holds ${found} at site ${site}, not ${least} to ${most}`,
        );
      }
    }
  }
}

/** What the operation may have added: one amount once it was answered. */
function changesOf(operation: ClientOperation): number[] {
  const { replies, error, args } = operation;
  if (replies.length === 0 && error !== undefined && error !== 'UNKNOWN') return [];
  const isAnswered = replies.length > 0;
  const amount = args['amount'] as number;
  switch (operation.operation) {
    case 'deposit':
      return [amount];
    case 'withdraw':
    case 'transfer':
      return isAnswered && !tookEffect(operation) ? [] : [-amount];
    case 'adjust':
      return isAnswered ? [isBlue(operation) ? 25 : -10] : [25, -10];
    default:
      return [];
  }
}
