/**
 * Takes the records of the red log: each one once, in order, and none beyond a point where the log
 * does not continue as it should. Engines deliver at least once, and some jump or come back shorter
 * without notice. Certification depends on the whole prefix of the log. So a site that went on
 * would decide otherwise than the others, for ever.
 */
import type { LogOutput, SavedLog } from './red-log.ts';

/** Why a site takes no more records of the red log. */
export interface RedHalt {
  /**
   * `gap`: records are missing. `regressed`: the log is another one, or shorter. `differs`: another
   * site has taken other records.
   */
  readonly reason: 'gap' | 'regressed' | 'differs';
  readonly message: string;
}

type Delivery<R> = LogOutput<R> & { kind: 'deliver' };

/** A log that can be compared with a saved state. */
interface IdentifiedLog {
  identity(): string;
  digest(length: number): number | undefined;
}

export class RedLogConsumer<R> {
  readonly #log: IdentifiedLog;
  /** The saved state, until a record behind it is taken. */
  #saved: SavedLog | undefined;
  #next: number;
  #halt: RedHalt | undefined;

  /** @param saved the state of the log in a checkpoint, which contains all records before it */
  constructor(log: IdentifiedLog, saved: SavedLog | undefined) {
    this.#log = log;
    this.#saved = saved;
    this.#next = saved?.delivered ?? 0;
    this.#halt = saved && describeMismatch(saved, log);
  }

  get next(): number {
    return this.#next;
  }

  get halt(): RedHalt | undefined {
    return this.#halt;
  }

  /**
   * Returns the records that are new and come next. Repeated records are left out, and all records
   * after a halt.
   */
  take(output: Delivery<R>): readonly R[] {
    if (this.#halt !== undefined) return [];
    const { from, next, records } = output;
    // Such a group would be taken as the next one, and so would its successors.
    if (next < from || (next === from && records.length > 0))
      return this.#regress(`a group that begins at ${from} ends at ${next}`);
    if (from === this.#next) return this.#findMismatch() ? [] : this.accept(output);
    if (from > this.#next) return this.onGap(output);
    if (next <= this.#next) return [];
    return this.#regress(`its groups end elsewhere than they did, at ${this.#next}`);
  }

  #regress(message: string): readonly R[] {
    this.stop({ reason: 'regressed', message });
    return [];
  }

  stop(halt: RedHalt): void {
    this.#halt ??= halt;
  }

  /**
   * Compares the log with the saved state again before the first record. A log that was shorter at
   * the start could not be compared then.
   */
  #findMismatch(): boolean {
    if (this.#saved === undefined) return false;
    const halt = describeMismatch(this.#saved, this.#log);
    this.#saved = undefined;
    if (halt !== undefined) this.stop(halt);
    return halt !== undefined;
  }

  /** Takes records that come next, as far as is known. */
  accept({ next, records }: Delivery<R>): readonly R[] {
    this.#next = next;
    return records;
  }

  onGap({ from }: Delivery<R>): readonly R[] {
    this.stop({
      reason: 'gap',
      message: `it goes on at ${from}, and ${this.#next} was to come`,
    });
    return [];
  }
}

/** Describes why a log is not the one that was read before, or not all of it. */
function describeMismatch(
  { identity, delivered, digest }: SavedLog,
  log: IdentifiedLog,
): RedHalt | undefined {
  const now = log.identity();
  if (identity !== undefined && identity !== now) {
    return {
      reason: 'regressed',
      message: `it is ${now}, and what is here came of ${identity}`,
    };
  }
  const there = log.digest(delivered);
  if (digest === undefined || there === undefined || digest === there) return undefined;
  return {
    reason: 'regressed',
    message: `what it has before ${delivered} is not what was read there`,
  };
}
