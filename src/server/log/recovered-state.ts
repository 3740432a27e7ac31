/** What a site writes down, and finds at its next start: two logs, and a checkpoint of what they led to. */
import { CorrectableError } from '../../correctable/errors.ts';
import { EMPTY_OWN_STATE, getSections } from '../records/checkpoint.ts';
import type { Checkpoint, OwnState, SharedState } from '../records/checkpoint.ts';
import type { Origin } from '../records/origin.ts';
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

/**
 * What a site finds that was away for so long that it needs the state of another one, and has its own still: the shared part
 * of that, and of its own the end of its stream, its slots, terms and clock. What it holds of other streams and of the red
 * log beyond that part, it keeps.
 *
 * @throws CorrectableError `UNAVAILABLE` if the other site has less than this one has let go of, or knows it as closed
 */
export function mergeSharedIntoSite(
  site: Origin,
  own: RecoveredState,
  { sections, smallParts }: Checkpoint,
): RecoveredState {
  const shared = smallParts as SharedSiteState;
  const { applied, origins } = shared.replica;
  const state = origins[site - 1]?.[2];
  if (state !== 'open' && state !== 'joining')
    throw unusableStateError('this site was closed: start it with --rebuild');
  const saved = own.checkpoint && getSavedSite(own.checkpoint);
  const ownState = saved?.own ?? { ...EMPTY_OWN_STATE, syncedLength: own.local.start };
  const ownApplied = saved?.shared.replica.applied ?? [];
  const isBehind = ownApplied.some((count, origin) => origin !== site && count > (applied[origin] ?? 0));
  if (isBehind || (saved?.shared.log.delivered ?? 0) > shared.log.delivered) {
    throw unusableStateError('it has less than this site: take the state of another site, or wait');
  }
  const before = own.local.entries.slice(0, ownState.syncedLength - own.local.start);
  const held = before.flatMap((entry) => (entry.kind === 'blue' ? [entry.operation] : []));
  const waiting = Array.from({ length: Math.max(applied.length, ownState.waiting.length) }, (_, origin) => {
    const bySequence = new Map(
      [...held.filter((operation) => operation.site === origin), ...(ownState.waiting[origin] ?? [])]
        .filter(({ sequence }) => sequence > (applied[origin] ?? 0))
        .map((operation) => [operation.sequence, operation]),
    );
    return [...bySequence.values()].toSorted((a, b) => a.sequence - b.sequence);
  });
  const tail = (ownApplied[site] ?? 0) + (ownState.waiting[site]?.length ?? 0) - (applied[site] ?? 0);
  if (tail > (waiting[site]?.length ?? 0)) {
    throw unusableStateError('it lacks operations of this site that are not kept here: take the state of another site');
  }
  const merged: SavedSiteState = { shared, own: { ...ownState, waiting } };
  const isLonger = own.red.start + own.red.entries.length >= shared.log.delivered;
  return {
    local: own.local,
    red: isLonger && own.red.start <= shared.log.delivered ? own.red : { start: shared.log.delivered, entries: [] },
    checkpoint: {
      sections: { ...sections, ...(own.checkpoint && getSections('own', own.checkpoint)) },
      smallParts: merged,
    },
  };
}

function unusableStateError(problem: string): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    `The state of the other site cannot be used here: ${problem}. Nothing was changed.`,
  );
}

const EMPTY_LOG = { start: 0, entries: [] } as const;
/** What a new site finds. */
export const EMPTY_STATE: RecoveredState = { local: EMPTY_LOG, red: EMPTY_LOG };
