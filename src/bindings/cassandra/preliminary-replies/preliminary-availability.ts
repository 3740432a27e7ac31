/**
 * Whether a coordinator gives preliminary views of a statement, learnt from its
 * answers: some have none by chance.
 */
import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import type { ReadStatement } from '../read-strategy.ts';

/** So many answers without one, and none before: it is no chance. */
const MAX_MISSES = 8;
/** So many in a row after one that had it: neither is that. */
const MAX_CONSECUTIVE_MISSES = 64;
/**
 * Of so many reads one asks again: it may have been chance all the same, or the
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

  /**
   * Whether the next read is to ask for a preliminary view; counts those that
   * do not.
   */
  isWorthRequesting(): boolean {
    if (this.#misses < this.#maxMisses) return true;
    this.#skipped = (this.#skipped + 1) % SKIPS_BEFORE_RETRY;
    return this.#skipped === 0;
  }
}

/**
 * What is known of one statement: of first pages and later ones, of one
 * partition and of several (`IN ?`).
 */
export class StatementAvailability {
  readonly #first = new PreliminaryAvailability();
  readonly #firstOfSeveral = new PreliminaryAvailability();
  readonly #later = new PreliminaryAvailability();

  get({
    params,
    pageState,
  }: Pick<ReadStatement, 'params' | 'pageState'>): PreliminaryAvailability {
    if (pageState !== undefined) return this.#later;
    return params.some(hasMultipleValues) ? this.#firstOfSeveral : this.#first;
  }
}

/** Whether a parameter is a list of several things that differ. */
function hasMultipleValues(param: unknown): boolean {
  const [first, ...rest]: readonly unknown[] = Array.isArray(param)
    ? param
    : param instanceof Set
      ? [...param]
      : [];
  return rest.some((item) => !structurallyEqual(item, first));
}
