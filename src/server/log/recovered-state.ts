/** What a site writes down, and finds at its next start: two logs, and a checkpoint of what they led to. */
import { EMPTY_OWN_STATE, getSections } from '../records/checkpoint.ts';
import type { Checkpoint, OwnState, SharedState } from '../records/checkpoint.ts';
import type { LocalEntry, RedRecord } from '../records/records.ts';
import type { LogEntry, SavedLog } from './red-log.ts';
import type { LogKind } from './log-id.ts';

/** Entries of a log from position `start` on. */
export interface RecoveredLog<E> {
  readonly start: number;
  readonly entries: readonly E[];
}

/** What a site finds at its start. */
export interface RecoveredState {
  readonly local: RecoveredLog<LocalEntry>;
  readonly red: RecoveredLog<LogEntry<RedRecord>>;
  readonly checkpoint?: Checkpoint | undefined;
}

/** A place in each of a site's logs. */
export type LogPositions = Readonly<Record<LogKind, number>>;

/** What belongs to a checkpoint beside the sections. */
export interface CheckpointCut {
  readonly smallParts: unknown;
  /** The entries before these places are part of it. */
  readonly contained: LogPositions;
}

/** What of a site's state beside the sections can be sent to another site. */
export interface SharedSiteState {
  readonly replica: SharedState;
  readonly log: SavedLog;
}

/** The state beside the sections, as a checkpoint has it. */
export interface SavedSiteState {
  readonly shared: SharedSiteState;
  readonly own: OwnState;
}

/** The state beside the sections of a checkpoint that a site has made. */
export function getSavedSite({ smallParts }: Checkpoint): SavedSiteState {
  return smallParts as SavedSiteState;
}

/** Entries that no checkpoint contains, of both logs: those before its cut are there for other sites. */
export function getEntriesAfterCheckpoint({ local, red, checkpoint }: RecoveredState): readonly unknown[] {
  if (checkpoint === undefined) return [...local.entries, ...red.entries];
  const { shared, own } = getSavedSite(checkpoint);
  const cut = { local: own.syncedLength, red: shared.log.delivered };
  return [...local.entries.slice(cut.local - local.start), ...red.entries.slice(cut.red - red.start)];
}

/** The part of a checkpoint that can be sent to another site. */
export function getSharedPart(checkpoint: Checkpoint): Checkpoint {
  return { sections: getSections('shared', checkpoint), smallParts: getSavedSite(checkpoint).shared };
}

/**
 * What a site finds that begins with the shared part of another one's checkpoint, and has nothing of its own: the logs go
 * on where that part ends.
 */
export function createSiteFromShared({ sections, smallParts }: Checkpoint): RecoveredState {
  const shared = smallParts as SharedSiteState;
  const saved: SavedSiteState = { shared, own: EMPTY_OWN_STATE };
  return {
    local: EMPTY_LOG,
    red: { start: shared.log.delivered, entries: [] },
    checkpoint: { sections, smallParts: saved },
  };
}

const EMPTY_LOG = { start: 0, entries: [] } as const;
/** What a new site finds. */
export const EMPTY_STATE: RecoveredState = { local: EMPTY_LOG, red: EMPTY_LOG };
