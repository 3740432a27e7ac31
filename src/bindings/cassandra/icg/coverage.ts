/**
 * Whether a coordinator gives preliminary views of a statement, learnt from its answers: of several partitions, of
 * aggregates and of later pages it gives none. Where the final view came first there is none either, but then by chance.
 */

/** So many answers in a row without one: it is no chance. */
const MISSES_MAX = 8;
/** Of so many reads one asks again: the coordinator may be another by now. */
const ASK_AGAIN = 256;

export class Coverage {
  #misses = 0;
  #skipped = 0;

  learn(hadPreliminary: boolean): void {
    this.#misses = hadPreliminary ? 0 : this.#misses + 1;
  }

  /** Whether the next read is to ask for a preliminary view; counts those that do not. */
  isWorthAsking(): boolean {
    if (this.#misses < MISSES_MAX) return true;
    this.#skipped = (this.#skipped + 1) % ASK_AGAIN;
    return this.#skipped === 0;
  }
}
