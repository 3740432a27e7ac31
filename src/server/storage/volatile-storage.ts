/** Storage in memory. */
import type { LogKind } from '../log/log-id.ts';
import type { LocalLog, LocalLogListener, StoredLogs, Term } from '../log/local-log.ts';
import { EMPTY_STATE, type RecoveredState } from '../log/recovered-state.ts';
import type { CheckpointSource, SiteStorage } from '../log/site-storage.ts';
import { createFencedError } from './disk/files.ts';

/** What all holders of one log share. */
interface VolatileLogState {
  /** Of the last one that took it over. */
  term: Term;
  readonly lengths: Map<LogKind, number>;
}

/** Keeps nothing: an entry counts as synced at once, and is trimmed as soon. */
export class VolatileLog implements LocalLog {
  readonly #state: VolatileLogState;
  readonly #listener: LocalLogListener;
  #isOver = false;

  /** The first term will be above that of `place`. */
  constructor(place: VolatileLogState, listener: LocalLogListener) {
    this.#state = place;
    this.#listener = listener;
  }

  takeOver(): Term {
    this.#state.term += 1;
    return this.#state.term;
  }

  read(): StoredLogs {
    const { lengths } = this.#state;
    const of = (log: LogKind): StoredLogs['local'] => ({ start: lengths.get(log) ?? 0, entries: [] });
    return { local: of('local'), red: of('red') };
  }

  append(term: Term, log: LogKind, entries: readonly unknown[]): void {
    const { lengths, term: retained } = this.#state;
    if (term !== retained) return this.#fence(term);
    const length = (lengths.get(log) ?? 0) + entries.length;
    lengths.set(log, length);
    this.#listener.onSynced(log, length);
  }

  trim(): void {}

  close(done: () => void): void {
    done();
  }

  #fence(term: Term): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onFenced(createFencedError(`term ${term} is not that of the holder of this log`));
  }
}

/** Keeps nothing: all is gone with the process. For demonstrations and tests. */
export class VolatileStorage implements SiteStorage {
  readonly stored: RecoveredState = EMPTY_STATE;
  readonly term: Term;
  readonly isFull = false;
  readonly fullReason = undefined;
  readonly isStuck = false;
  readonly #log: VolatileLog;
  #listener: LocalLogListener | undefined;

  /** @param term larger than at any earlier start, of which nothing is known here */
  constructor(term: Term) {
    this.#log = new VolatileLog(
      { term: term - 1, lengths: new Map() },
      {
        onSynced: (log, length) => this.#listener?.onSynced(log, length),
        onFenced: (error) => this.#listener?.onFenced(error),
        onFailed: (error) => this.#listener?.onFailed(error),
      },
    );
    this.term = this.#log.takeOver();
  }

  attach(_source: CheckpointSource, listener: LocalLogListener): void {
    this.#listener = listener;
  }

  isOwned(): boolean {
    return true;
  }

  append(log: LogKind, entries: readonly unknown[]): void {
    this.#log.append(this.term, log, entries);
  }

  async close(): Promise<void> {}
}
