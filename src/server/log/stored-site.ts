/** What a site writes down, and finds at its next start: two logs, and a checkpoint of what they led to. */
import { NOTHING_OWN, sectionsOf } from '../records/checkpoint.ts';
import type { Checkpoint, OwnState, SharedState } from '../records/checkpoint.ts';
import type { LocalEntry, RedRecord } from '../records/records.ts';
import type { LogEntry, SavedLog } from './log.ts';
import type { LogKind } from './log-id.ts';

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
export type LogPlaces = Readonly<Record<LogKind, number>>;

/** What belongs to a checkpoint beside the sections. */
export interface Cut {
  readonly rest: unknown;
  /** The entries before these places are part of it. */
  readonly contained: LogPlaces;
}

/** What of a site's state beside the sections can be sent to another site. */
export interface SharedSite {
  readonly replica: SharedState;
  readonly log: SavedLog;
}

/** The state beside the sections, as a checkpoint has it. */
export interface SavedSite {
  readonly shared: SharedSite;
  readonly own: OwnState;
}

/** The state beside the sections of a checkpoint that a site has made. */
export function savedSiteOf({ rest }: Checkpoint): SavedSite {
  return rest as SavedSite;
}

/** Entries that no checkpoint contains, of both logs: those before its cut are there for other sites. */
export function entriesBehind({ local, red, checkpoint }: StoredSite): readonly unknown[] {
  if (checkpoint === undefined) return [...local.entries, ...red.entries];
  const { shared, own } = savedSiteOf(checkpoint);
  const cut = { local: own.synced, red: shared.log.delivered };
  return [...local.entries.slice(cut.local - local.start), ...red.entries.slice(cut.red - red.start)];
}

/** The part of a checkpoint that can be sent to another site. */
export function sharedPart(checkpoint: Checkpoint): Checkpoint {
  return { sections: sectionsOf('shared', checkpoint), rest: savedSiteOf(checkpoint).shared };
}

/**
 * What a site finds that begins with the shared part of another one's checkpoint, and has nothing of its own: the logs go
 * on where that part ends.
 */
export function siteFromShared({ sections, rest }: Checkpoint): StoredSite {
  const shared = rest as SharedSite;
  const saved: SavedSite = { shared, own: NOTHING_OWN };
  return { local: EMPTY, red: { start: shared.log.delivered, entries: [] }, checkpoint: { sections, rest: saved } };
}

const EMPTY = { start: 0, entries: [] } as const;
/** What a new site finds. */
export const NOTHING_STORED: StoredSite = { local: EMPTY, red: EMPTY };
