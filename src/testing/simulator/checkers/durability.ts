/**
 * Checks that acknowledged operations are at every remaining site, except blue ones of sites that
 * were lost before others had them.
 */
import type { RedOperation } from '../../../server/service/records/records.ts';
import type { Origin } from '../../../server/service/records/origin.ts';
import {
  SiteChecker,
  canBeLost,
  assertProperty,
  isRed,
  type AnyOperation,
  type Checker,
  type FinalState,
} from './checker.ts';
import { encodeValue } from '../../../server/node/storage/format/value-text.ts';

/** By partition: how often its red log was restored with a loss. */
export type LogLosses = ReadonlyMap<number, number>;

interface AppliedAfter {
  readonly partition: number;
  readonly losses: number;
}

export class DurabilityChecker extends SiteChecker<Set<string>> {
  readonly name = 'durability';
  readonly holdsAfterLoss = true;
  readonly #losses: LogLosses;
  /** By red operation: the losses of its log when a site applied it last. */
  readonly #appliedAfter = new Map<string, AppliedAfter>();
  /** The sites that have shown an operation, by operation. */
  readonly #shownBy = new Map<string, Set<Origin>>();

  constructor(losses: LogLosses) {
    super((saved) => new Set(saved));
    this.#losses = losses;
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const { id } = operation;
    if (isRed(operation)) this.#noteApplied(operation);
    this.getState(site).add(id);
    const sites = this.#shownBy.get(id);
    if (sites === undefined) this.#shownBy.set(id, new Set([site]));
    else sites.add(site);
  }

  onFinished({ history, sites, lost }: FinalState): void {
    for (const operation of history.getAnswered()) {
      if (history.traits.isRead(operation) || !history.traits.hasEffect(operation)) continue;
      if (this.#mayBeLostWithLog(operation.id)) continue;
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

  #noteApplied({ id, partition = 0 }: RedOperation): void {
    const losses = this.#losses.get(partition) ?? 0;
    this.#appliedAfter.set(id, { partition, losses });
  }

  /** What a site applies after a loss is in the log that goes on. */
  #mayBeLostWithLog(id: string): boolean {
    const applied = this.#appliedAfter.get(id);
    if (applied === undefined) return false;
    return applied.losses < (this.#losses.get(applied.partition) ?? 0);
  }
}

/**
 * Checks that all sites have the same state once everything has healed and arrived (RedBlue, OSDI
 * 2012, Theorem 1).
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
        () => `site ${site} ends as\n${found}\nand site ${first?.site} as\n${first?.found}`,
      );
    }
  }
}
