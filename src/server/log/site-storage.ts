/** The port by which a site keeps its logs and its checkpoints. */
import type { Section } from '../service/records/checkpoint.ts';
import type { LocalLogListener, LogKind, Term } from './local-log.ts';
import type { LogPositions } from './log-positions.ts';
import type { CheckpointCut, RecoveredState } from './recovered-state.ts';

/** The state that a storage saves in checkpoints. */
export interface CheckpointSource {
  readonly sections: Readonly<Record<string, Section>>;
  /** Why no checkpoint can be made now, if so. It is checked before anything is written. */
  readonly cutProblem?: string | undefined;
  /** Whether so much has changed since the last checkpoint that another one should begin. */
  readonly isCheckpointDue?: boolean | undefined;
  /** @throws Error if there is a `cutProblem` */
  createCut(): CheckpointCut;
  /** Entries from these places on are needed even if a checkpoint contains them. */
  readonly retainedFrom: LogPositions;
  /** A checkpoint that contains the entries before these places is on the disk. */
  onCheckpointed?(contained: LogPositions): void;
}

export interface StorageEvents {
  /** No log file can be created, and why; or one can again. */
  onFullChanged(because: Error | undefined): void;
  onCheckpointFailed(error: Error): void;
  /** Something that was on the disk is not there any more, or not whole. */
  onDamaged(description: string): void;
  onStopped(error: Error): void;
  /** Another process has the data: the site has stopped. */
  onFenced(error: Error): void;
}

/** The storage of one site. Entries count once they are synced. */
export interface SiteStorage {
  /** The state that was found at the start. It has to be read before `attach`, which drops it. */
  readonly stored: RecoveredState;
  /**
   * The number of this start as the holder of the site's log. It is larger than at any earlier
   * start.
   */
  readonly term: Term;
  /** Whether there is no room for more. Appended entries are kept, but nothing new should begin. */
  readonly isFull: boolean;
  /** The reason for callers whose operations are rejected. */
  readonly fullReason: string | undefined;
  /**
   * Whether the room that was left for what had begun is used up too: nothing that is appended is
   * written for now.
   */
  readonly isStuck: boolean;
  /**
   * Whether no other process has the directory. If one has, the listener gets a failure. Asked
   * before all reports.
   */
  isOwned(): boolean;
  /** To be called once, before the first `append`. The events are those of a log for its holder. */
  attach(source: CheckpointSource, listener: LocalLogListener): void;
  append(log: LogKind, entries: readonly unknown[]): void;
  /** Ends when everything appended is synced, or never will be. */
  close(): Promise<void>;
}
