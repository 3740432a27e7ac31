/**
 * The port of a site's own log, with its copy of the red log. The holder appends groups of entries. The
 * log reports, in order, up to which entry they can no longer be lost. After another holder has taken the log over, it
 * acknowledges nothing to the holder before.
 */
import type { LogKind } from './log-id.ts';
import type { LogPositions, RecoveredLog } from './recovered-state.ts';

/** Numbers the holders of a log: each has a larger one than those before. */
export type Term = number;

/** The events that a log reports to its holder. After `onFenced` or `onFailed` it reports nothing. */
export interface LocalLogListener {
  /** The first `length` entries of a log, from its very beginning, are synced: they can no longer be lost. */
  onSynced(log: LogKind, length: number): void;
  /** Another holder has the log: entries that were appended and not reported as synced do not count. */
  onFenced(error: Error): void;
  /** The log cannot be written any more. It is unknown which unsynced entries are there, so none counts. */
  onFailed(error: Error): void;
}

export interface StoredLogs {
  readonly local: RecoveredLog<unknown>;
  readonly red: RecoveredLog<unknown>;
}

export interface LocalLog {
  /** Takes the log over from its previous holder, which is fenced from then on. Call it first. Throws `UNAVAILABLE`. */
  takeOver(): Term;
  /** The entries that are there, of all holders before: those from where the log was trimmed, or somewhat earlier. */
  read(): StoredLogs;
  /** Appends entries. The listener reports what became of them. With an older `term` than the last it is fenced. */
  append(term: Term, log: LogKind, entries: readonly unknown[]): void;
  /** Entries before these places are not needed any more. */
  trim(places: LogPositions): void;
  /** Calls back once nothing is left to be written, or nothing can be written any more. */
  close(done: () => void): void;
}
