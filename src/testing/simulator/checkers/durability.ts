/**
 * What was acknowledged is there, at every site that is left. Only a blue operation may be gone, with the site that
 * answered it, when that is lost for good before another has it.
 */
import type { Origin, Origins } from '../../../server/records/origin.ts';
import { SiteChecker, mayBeGone, require, type AnyOperation, type Checker, type FinalState } from './checker.ts';
import { toText } from '../../../server/storage/format/values.ts';

export class DurabilityChecker extends SiteChecker<Set<string>> {
  readonly name = 'durability';

  constructor(origins: Origins) {
    super(origins, (saved) => new Set(saved));
  }

  applied(site: Origin, { id }: AnyOperation): void {
    this.at(site).add(id);
  }

  finished({ history, sites, lost }: FinalState): void {
    for (const operation of history.answered()) {
      if (history.isRead(operation) || !history.tookEffect(operation)) continue;
      if (mayBeGone(history, operation, lost)) continue;
      for (const { site } of sites) {
        require(this.at(site).has(operation.id), () =>
          `${operation.operation} ${operation.id} was acknowledged and is not at site ${site}`);
      }
    }
  }
}

/** Once everything has healed and arrived, all sites have the same state (RedBlue, OSDI 2012, Theorem 1). */
export class ConvergenceChecker implements Checker {
  readonly name = 'convergence';

  finished({ sites }: FinalState): void {
    const [first, ...others] = sites.map(({ site, state }) => {
      return { site, found: toText([state.stable, state.store.snapshot()]) };
    });
    for (const { site, found } of others) {
      require(found === first?.found, () =>
        `site ${site} ends as\n${found}\nand site ${first?.site} as\n${first?.found}`);
    }
  }
}
