/** The port by which a site keeps its logs and its checkpoints. */
import type { Section } from '../records/checkpoint.ts';
import type { LocalLogListener, LogKind, Term } from './local-log.ts';
import type {
  CheckpointCut,
  LogPositions,
  RecoveredState,
} from './recovered-state.ts';

/** The state that a storage saves beside the logs now and then. */
export interface CheckpointSource {
  readonly sections: Readonly<Record<string, Section>>;
  /**
   * Why no checkpoint can be made now, if so: asked before anything is written.
   */
  readonly cutProblem?: string | undefined;
  /** @throws Error if there is a `cutProblem` */
  createCut(): CheckpointCut;
  /**
   * Entries from these places on are needed even where a checkpoint contains
   * them.
   */
  readonly retainedFrom: LogPositions;
  /**
   * A checkpoint that contains the entries before these places is on the disk.
   */
  onCheckpointed?(contained: LogPositions): void;
}

export interface StorageEvents {
  /** No log file can be made, and why; or one can again. */
  onFullChanged(because: Error | undefined): void;
  onCheckpointFailed(error: Error): void;
  /** Something that was on the disk is not there any more, or not whole. */
  onDamaged(description: string): void;
  onStopped(error: Error): void;
  /** Another process has the data: the site has stopped. */
  onFenced(error: Error): void;
}

/**
 * Where one site keeps what it must not lose. Nothing counts before it is
 * synced.
 */
export interface SiteStorage {
  /**
   * What was found at the start: to be taken up before `attach`, which lets go
   * of it.
   */
  readonly stored: RecoveredState;
  /**
   * Of this start as the holder of the site's log: larger than at any earlier
   * one.
   */
  readonly term: Term;
  /**
   * Whether there is no room for more: what was appended is kept, but nothing
   * should be begun.
   */
  readonly isFull: boolean;
  /** The reason for callers whose operations are rejected. */
  readonly fullReason: string | undefined;
  /**
   * Whether the room that was left for what had begun is used up too: nothing
   * that is appended is written for now.
   */
  readonly isStuck: boolean;
  /**
   * Whether no other process has the directory. If one has, the listener gets a
   * failure. Asked before all reports.
   */
  isOwned(): boolean;
  /**
   * To be called once, before the first `append`. The events are those of a log
   * for its holder.
   */
  attach(source: CheckpointSource, listener: LocalLogListener): void;
  append(log: LogKind, entries: readonly unknown[]): void;
  /** Ends when everything appended is synced, or never will be. */
  close(): Promise<void>;
}
