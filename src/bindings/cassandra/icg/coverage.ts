/**
 * Whether a coordinator gives preliminary views of a statement (docs/spec/cassandra-icg.md has which), learnt from its
 * answers. A statement that had one is covered for good: under load, or where the final view is first, some have none by
 * chance, and two requests instead of one would make it worse.
 */

/** So many answers without one, and none before: it is no chance. */
const MISSES_MAX = 8;
/** Of so many reads one asks again: it may have been chance all the same, or the replication has changed. */
const ASK_AGAIN = 256;

export class Coverage {
  #isCovered = false;
  #misses = 0;
  #skipped = 0;

  learn(hadPreliminary: boolean): void {
    if (hadPreliminary) this.#isCovered = true;
    else this.#misses += 1;
  }

  /** Whether the next read is to ask for a preliminary view; counts those that do not. */
  isWorthAsking(): boolean {
    if (this.#isCovered || this.#misses < MISSES_MAX) return true;
    this.#skipped = (this.#skipped + 1) % ASK_AGAIN;
    return this.#skipped === 0;
  }
}
