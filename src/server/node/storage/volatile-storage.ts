import type { LocalLogListener, LogKind, Term } from '../../log/local-log.ts';
import type { LogCounts } from '../../log/log-positions.ts';
import { EMPTY_STATE, type RecoveredState } from '../../log/recovered-state.ts';
import type { CheckpointSource, SiteStorage } from '../../log/site-storage.ts';

/**
 * Storage in memory, for demonstrations and tests. It stores nothing, so an entry counts as synced
 * at once.
 */
export class VolatileStorage implements SiteStorage {
  readonly stored: RecoveredState;
  readonly term: Term;
  readonly isFull = false;
  readonly fullReason = undefined;
  readonly isStuck = false;
  readonly #lengths: LogCounts = { local: 0, red: 0 };
  #listener: LocalLogListener | undefined;

  /**
   * @param term larger than at any earlier start, since nothing is known about those here
   * @param stored the state that a site begins with
   */
  constructor(term: Term, stored: RecoveredState = EMPTY_STATE) {
    this.term = term;
    this.stored = stored;
  }

  attach(_source: CheckpointSource, listener: LocalLogListener): void {
    this.#listener = listener;
  }

  isOwned(): boolean {
    return true;
  }

  append(log: LogKind, entries: readonly unknown[]): void {
    const length = (this.#lengths[log] ?? 0) + entries.length;
    this.#lengths[log] = length;
    this.#listener?.onSynced(log, length);
  }

  async close(): Promise<void> {}
}
