/**
 * The port of a site's own log of a partition, with its copy of the red log beside it: whoever holds it appends groups of
 * entries, and is told, in order, up to where they can no longer be lost. What another one has taken over is never
 * acknowledged to the one before.
 */
import type { LogId } from './log-id.ts';
import type { LogPositions, RecoveredLog } from './recovered-state.ts';

/** Numbers the holders of a log: each has a larger one than those before. */
export type Term = number;

/** What a log tells its holder. After either of the last two it tells nothing more. */
export interface LocalLogListener {
  /** The first `length` entries of a log, from its very beginning, are synced: they can no longer be lost. */
  onSynced(log: LogId, length: number): void;
  /** Another holder has the log: what was appended and not told to be synced is nothing to go by. */
  onFenced(error: Error): void;
  /** The log cannot be written any more, and nobody can say what of the rest is there: nothing of it can be promised. */
  onFailed(error: Error): void;
}

/** What is to be read of a log of a partition. */
export interface StoredLogs {
  readonly local: RecoveredLog<unknown>;
  readonly red: RecoveredLog<unknown>;
}

/** A log of one partition at one site. */
export interface LocalLog {
  /**
   * Takes the log over from whoever held it, whose appends are fenced from then on. What it had on the way counts for
   * nothing once this holder has appended; before that it may still come to be there. Once, before the first `append`.
   *
   * @throws CorrectableError `UNAVAILABLE` where that cannot be written
   */
  takeOver(): Term;
  /** The entries that are there, of all holders before: those from where the log was trimmed, or somewhat earlier. */
  read(): StoredLogs;
  /**
   * Appends entries, of which the listener hears: a place, that another one has taken over, or that nobody knows.
   *
   * @param term what `takeOver` gave; with an older one it is fenced
   */
  append(term: Term, log: LogId, entries: readonly unknown[]): void;
  /** Entries before these places are not needed any more. */
  trim(places: LogPositions): void;
  /** Calls back once nothing is left to be written, or nothing more can be. */
  close(done: () => void): void;
}
