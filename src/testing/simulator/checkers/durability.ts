/**
 * Checks that acknowledged operations are at every remaining site, except blue
 * ones of sites that were lost before others had them.
 */
import type { Origin } from '../../../server/records/origin.ts';
import {
  SiteChecker,
  canBeLost,
  assertProperty,
  isRed,
  type AnyOperation,
  type Checker,
  type FinalState,
} from './checker.ts';
import { encodeValue } from '../../../server/storage/format/value-text.ts';

export class DurabilityChecker extends SiteChecker<Set<string>> {
  readonly name = 'durability';
  readonly holdsAfterLoss = true;
  /** The logs that have lost confirmed records, by partition. */
  readonly #lossyLogs: ReadonlySet<number>;
  /** The logs of red operations, by id. */
  readonly #partitions = new Map<string, number>();
  /** The sites that have shown an operation, by operation. */
  readonly #shownBy = new Map<string, Set<Origin>>();

  constructor(lossyLogs: ReadonlySet<number>) {
    super((saved) => new Set(saved));
    this.#lossyLogs = lossyLogs;
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const { id } = operation;
    if (isRed(operation)) this.#partitions.set(id, operation.partition ?? 0);
    this.getState(site).add(id);
    const sites = this.#shownBy.get(id);
    if (sites === undefined) this.#shownBy.set(id, new Set([site]));
    else sites.add(site);
  }

  onFinished({ history, sites, lost }: FinalState): void {
    for (const operation of history.getAnswered()) {
      if (
        history.traits.isRead(operation) ||
        !history.traits.hasEffect(operation)
      )
        continue;
      if (this.#isInLossyLog(operation.id)) continue;
      const isElsewhere = [...(this.#shownBy.get(operation.id) ?? [])].some(
        (site) => !lost.has(site),
      );
      if (canBeLost(history, operation, lost) && !isElsewhere) continue;
      for (const { site } of sites) {
        assertProperty(
          this.getState(site).has(operation.id),
          () =>
            `${operation.operation} ${operation.id} was acknowledged and is not at site ${site}`,
        );
      }
    }
  }

  #isInLossyLog(id: string): boolean {
    const partition = this.#partitions.get(id);
    return partition !== undefined && this.#lossyLogs.has(partition);
  }
}

/**
 * Checks that all sites have the same state once everything has healed and
 * arrived (RedBlue, OSDI 2012, Theorem 1).
 */
export class ConvergenceChecker implements Checker {
  readonly name = 'convergence';
  readonly holdsAfterLoss = true;

  onFinished({ sites }: FinalState): void {
    const [first, ...others] = sites.map(({ site, state }) => {
      return {
        site,
        found: encodeValue([state.stable, state.store.snapshot()]),
      };
    });
    for (const { site, found } of others) {
      assertProperty(
        found === first?.found,
        () =>
          `site ${site} ends as\n${found}\nand site ${first?.site} as\n${first?.found}`,
      );
    }
  }
}
