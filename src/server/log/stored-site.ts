/** What a site writes down, and finds at its next start: two logs, and a checkpoint of what they led to. */
import type { Checkpoint } from '../records/checkpoint.ts';
import type { LocalEntry, RedRecord } from '../records/records.ts';
import type { LogEntry, SavedLog } from './log.ts';

/** What a site writes down: its own log, and its copy of the red log. */
export type SiteLogName = 'local' | 'red';

/** Entries of a log from position `start` on. */
export interface StoredLog<E> {
  readonly start: number;
  readonly entries: readonly E[];
}

/** What a site finds at its start. */
export interface StoredSite {
  readonly local: StoredLog<LocalEntry>;
  readonly red: StoredLog<LogEntry<RedRecord>>;
  readonly checkpoint?: Checkpoint | undefined;
}

/** A place in each of a site's logs. */
export type LogPlaces = Readonly<Record<SiteLogName, number>>;

/** What belongs to a checkpoint beside the sections. */
export interface Cut {
  readonly rest: unknown;
  /** The entries before these places are part of it. */
  readonly contained: LogPlaces;
}

/** The state beside the sections, as a checkpoint has it. */
export interface SavedSite {
  readonly replica: unknown;
  readonly log: SavedLog;
}

const EMPTY = { start: 0, entries: [] } as const;
/** What a new site finds. */
export const NOTHING_STORED: StoredSite = { local: EMPTY, red: EMPTY };
