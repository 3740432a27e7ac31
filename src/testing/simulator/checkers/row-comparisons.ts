/**
 * Checks what sites report when they compare their rows. Sites never diverge, so each report is
 * wrong, unless a fault was planted. If sites end with other rows, one of them must have noticed.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import type { ComparedRows } from '../../../server/site/core/site-core.ts';
import { encodeValue } from '../../../server/node/storage/format/value-text.ts';
import { assertProperty, type Checker, type FinalState } from './checker.ts';

export class RowComparisonChecker implements Checker {
  readonly name = 'comparisons';
  readonly holdsAfterLoss = true;
  #hasCompared = false;

  onRowsCompared(site: Origin, { peer, table, differing }: ComparedRows): void {
    this.#hasCompared = true;
    assertProperty(
      differing.length === 0,
      () => `site ${site} reports that ${differing.join()} of ${table} differ at site ${peer}`,
    );
  }

  onFinished({ sites }: FinalState): void {
    if (!this.#hasCompared) return;
    const ends = sites.map(({ state }) => encodeValue(state.store.snapshot()));
    assertProperty(
      ends.every((end) => end === ends[0]),
      () => 'the sites end with different rows, and none of them has noticed',
    );
  }
}
