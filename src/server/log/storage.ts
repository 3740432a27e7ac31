/** The port by which a site keeps its logs and its checkpoints. */
import type { Section } from '../records/checkpoint.ts';
import type { Cut, LogPlaces, SiteLogName, StoredSite } from './stored-site.ts';

/** The state that a storage saves beside the logs now and then. */
export interface CheckpointSource {
  readonly sections: Readonly<Record<string, Section>>;
  cut(): Cut;
  /** Entries from these places on are needed even where a checkpoint contains them. */
  readonly keptFrom: LogPlaces;
}

/** What a storage tells its site. */
export interface StorageListener {
  /** The first `length` entries of a log, from its very beginning, are synced: they can no longer be lost. */
  synced(log: SiteLogName, length: number): void;
  /** The logs cannot be written any more: nothing that is not synced by now can be promised. */
  failed(error: Error): void;
}

/** What a site's storage tells of. */
export interface StorageEvents {
  /** No log file can be made, and why; or one can again. */
  fullChanged(because: Error | undefined): void;
  checkpointFailed(error: Error): void;
  /** Something that was on the disk is not there any more, or not whole. */
  damaged(what: string): void;
  stopped(error: Error): void;
}

/** Where one site keeps what it must not lose. Nothing counts before it is synced. */
export interface SiteStorage {
  /** What was found at the start: to be taken up before `attach`, which lets go of it. */
  readonly stored: StoredSite;
  /** Larger than at any earlier start of this site. */
  readonly epoch: number;
  /** Whether there is no room for more: what was appended is kept, but nothing should be begun. */
  readonly isFull: boolean;
  /** Why, for whoever is refused. */
  readonly fullBecause: string | undefined;
  /** Whether the room that was left for what had begun is used up too: nothing that is appended is written for now. */
  readonly isStuck: boolean;
  /**
   * Whether nobody else has taken the place over while this process was held up. Asked before anything is told; where
   * somebody has, the listener is told that the storage has failed.
   */
  isHeld(): boolean;
  /** To be called once, before the first `append`. */
  attach(source: CheckpointSource, listener: StorageListener): void;
  /**
   * Appends entries. `submissions` came to the site since the last time, reads among them: where they are few, and that
   * is said, the site may be held up until the disk has the entries.
   */
  append(log: SiteLogName, entries: readonly unknown[], submissions?: number): void;
  /** Ends when everything appended is synced, or never will be. */
  close(): Promise<void>;
}
