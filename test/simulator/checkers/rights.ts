/**
 * Rights are neither made nor lost, and no take goes beyond them (docs/spec/rights.md). At every
 * site, after every operation, each holder has none or some, and rights + pool + taken = given.
 * Successful takes were given, whichever sites were lost since.
 */
import type { Ledger } from '../../../src/server/service/fields/ledger.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type { SiteState } from '../../../src/server/site/core/site-state.ts';
import { assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type {
  AnyOperation,
  Checker,
  FinalState,
} from '../../../src/testing/simulator/checkers/checker.ts';
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';

const FIELD = 'free';

/**
 * The amounts that an operation takes of a row, if its reply shows that it has, and those that it
 * may have given.
 */
interface Amounts {
  readonly taken: number;
  readonly given: number;
}

export class RightsChecker implements Checker {
  readonly name = 'rights';

  onApplied(site: Origin, { id, effects }: AnyOperation, state: SiteState): void {
    for (const { table, key, field } of effects) {
      if (field !== FIELD) continue;
      const ledger = state.store.read(table, key, field) as Ledger;
      for (const holder of ledger.holders) {
        assertProperty(
          ledger.getHolding(holder) >= 0,
          () =>
            `site ${site} shows ${ledger.getHolding(holder)} rights of ${holder} to ${key} after ${id}`,
        );
      }
      const retained = ledger.holders.reduce((sum, item) => sum + ledger.getHolding(item), 0);
      const { grants: value, takes } = ledger;
      assertProperty(
        retained + takes === value,
        () =>
          `site ${site} shows ${retained} rights to ${key}, ${takes} taken, of ${value} given after ${id}`,
      );
    }
  }

  onFinished({ history }: FinalState): void {
    for (const key of ['a', 'b']) {
      let [value, taken] = [0, 0];
      for (const operation of history.operations) {
        const amounts = amountsOf(operation, key);
        value += amounts.given;
        taken += amounts.taken;
      }
      assertProperty(
        taken <= value,
        () => `${taken} of ${key} were reported as taken, and no more than ${value} were given`,
      );
    }
  }
}

function amountsOf({ operation, args, replies }: ClientOperation, key: string): Amounts {
  const input = args as { readonly key?: string; readonly amount?: number };
  const { amount = 0 } = input;
  if (input.key !== undefined && input.key !== key) return { taken: 0, given: 0 };
  if (operation.startsWith('give')) return { taken: 0, given: amount };
  const hasTaken = replies.some(
    ({ value }) => (value as { taken?: boolean } | null)?.taken === true,
  );
  return { taken: operation.startsWith('take') && hasTaken ? amount : 0, given: 0 };
}
