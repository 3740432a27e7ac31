/**
 * An operation over several partitions takes from a stock at its place if it did so on its
 * snapshot. Otherwise its client would find one half of a move done, although there was enough
 * where it was executed. The stocks are added up here, from what each site applies.
 */
import type { Effect } from '../../../src/server/service/records/effect.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import {
  assertProperty,
  getExecutionName,
  isRed,
  SiteChecker,
  type AnyOperation,
} from '../../../src/testing/simulator/checkers/checker.ts';

type Stocks = Map<string, number>;

/** Its notes are the stocks of a site, by row. */
export class StockChecker extends SiteChecker<Stocks> {
  readonly name = 'stocks';
  /**
   * By execution of an operation over several partitions: whether its take had enough on the
   * snapshot.
   */
  readonly #hadEnough = new Map<string, boolean>();

  constructor() {
    super((saved) => new Map(saved));
  }

  onCreated(site: Origin, operation: AnyOperation): void {
    const take = findTake(operation);
    if (take === undefined || !isRed(operation) || operation.others === undefined) return;
    this.#hadEnough.set(getExecutionName(operation), hasEnough(this.getState(site), take));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const stocks = this.getState(site);
    const take = findTake(operation);
    const hasTaken = take !== undefined && hasEnough(stocks, take);
    const hadEnough = isRed(operation)
      ? this.#hadEnough.get(getExecutionName(operation))
      : undefined;
    assertProperty(
      hadEnough === undefined || hadEnough === hasTaken,
      () =>
        `the take of ${operation.id} ${hasTaken ? 'succeeds' : 'fails'} at its place, and not on its snapshot`,
    );
    for (const { table, key, action, value } of operation.effects) {
      if (table !== 'stores') continue;
      const left = stocks.get(key) ?? 0;
      if (action === 'add') stocks.set(key, left + (value as number));
      else if (hasTaken) stocks.set(key, left - getAmount(value));
    }
  }
}

/** Operations take from one store at most, before they add to another. */
function findTake({ effects }: AnyOperation): Effect | undefined {
  return effects.find(({ table, action }) => table === 'stores' && action === 'take');
}

function hasEnough(stocks: Stocks, { key, value }: Effect): boolean {
  return (stocks.get(key) ?? 0) >= getAmount(value);
}

function getAmount(value: unknown): number {
  return (value as { readonly amount: number }).amount;
}
