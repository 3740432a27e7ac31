/**
 * Whether a coordinator gives preliminary views of a statement (docs/spec/cassandra-icg.md has which), learnt from its
 * answers. Under load, or where the final view is first, some reads have none by chance, and two requests instead of one
 * would make it worse: a statement that had one stays covered until many in a row had none.
 */
import { structurallyEqual } from '../../../correctable/equal.ts';

/** So many answers without one, and none before: it is no chance. */
const MISSES_MAX = 8;
/** So many in a row after one that had it: neither is that. */
const MISSES_IN_A_ROW_MAX = 64;
/** Of so many reads one asks again: it may have been chance all the same, or the replication has changed. */
const ASK_AGAIN = 256;

export class Coverage {
  #missesMax = MISSES_MAX;
  #misses = 0;
  #skipped = 0;

  learn(hadPreliminary: boolean): void {
    if (hadPreliminary) {
      this.#missesMax = MISSES_IN_A_ROW_MAX;
      this.#misses = 0;
    } else {
      this.#misses += 1;
    }
  }

  /** Whether the next read is to ask for a preliminary view; counts those that do not. */
  isWorthAsking(): boolean {
    if (this.#misses < this.#missesMax) return true;
    this.#skipped = (this.#skipped + 1) % ASK_AGAIN;
    return this.#skipped === 0;
  }
}

/** The parts of a read on which it depends whether there is a preliminary view. */
interface Covered {
  readonly params: readonly unknown[];
  readonly pageState?: string | undefined;
}

/** What is known of one statement: of first pages and later ones, of one partition and of several (`IN ?`). */
export class StatementCoverage {
  readonly #first = new Coverage();
  readonly #firstOfSeveral = new Coverage();
  readonly #later = new Coverage();

  of({ params, pageState }: Covered): Coverage {
    if (pageState !== undefined) return this.#later;
    return params.some(hasSeveral) ? this.#firstOfSeveral : this.#first;
  }
}

/** Whether a parameter is a list of several things that differ. */
function hasSeveral(param: unknown): boolean {
  const [first, ...rest]: readonly unknown[] = Array.isArray(param) ? param : param instanceof Set ? [...param] : [];
  return rest.some((item) => !structurallyEqual(item, first));
}
