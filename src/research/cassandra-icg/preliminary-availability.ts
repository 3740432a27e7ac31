/**
 * Learns from the replies of a coordinator whether it has preliminary views of a statement. Single
 * replies may have none by chance.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { ReadStatement } from '../../bindings/cassandra/read-strategy.ts';

/** After this number of replies without one, and none before, it is no chance. */
const MAX_MISSES = 8;
/** After this number of consecutive replies without one, it is no chance either. */
const MAX_CONSECUTIVE_MISSES = 64;
/**
 * After this number of skipped reads, one tries again. It may have been chance all the same, or the
 * replication has changed.
 */
const SKIPS_BEFORE_RETRY = 256;

export class PreliminaryAvailability {
  #maxMisses = MAX_MISSES;
  #misses = 0;
  #skipped = 0;

  recordReply(hadPreliminary: boolean): void {
    if (hadPreliminary) {
      this.#maxMisses = MAX_CONSECUTIVE_MISSES;
      this.#misses = 0;
    } else {
      this.#misses += 1;
    }
  }

  /** Returns whether the next read requests a preliminary view. Counts the reads that do not. */
  isWorthRequesting(): boolean {
    if (this.#misses < this.#maxMisses) return true;
    this.#skipped = (this.#skipped + 1) % SKIPS_BEFORE_RETRY;
    return this.#skipped === 0;
  }
}

/**
 * The availability for one statement, separately for first and later pages, and for one or several
 * partitions (`IN ?`).
 */
export class StatementAvailability {
  readonly #first = new PreliminaryAvailability();
  readonly #firstOfSeveral = new PreliminaryAvailability();
  readonly #later = new PreliminaryAvailability();

  get({ params, pageState }: ReadStatement): PreliminaryAvailability {
    if (pageState !== undefined) return this.#later;
    return params.some(hasMultipleValues) ? this.#firstOfSeveral : this.#first;
  }
}

/** Returns whether a parameter is an array of several different items. */
function hasMultipleValues(param: unknown): boolean {
  const [first, ...rest]: readonly unknown[] = Array.isArray(param)
    ? param
    : param instanceof Set
      ? [...param]
      : [];
  return rest.some((item) => !structurallyEqual(item, first));
}
