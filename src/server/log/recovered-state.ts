/** The files of a site, which its next start reads: two logs, and a checkpoint. */
import { CorrectableError } from '../../correctable/errors.ts';
import { EMPTY_OWN_STATE, getSections } from '../service/records/checkpoint.ts';
import type {
  Checkpoint,
  OwnState,
  SavedSection,
  SharedState,
} from '../service/records/checkpoint.ts';
import { MICROS_PER_MS } from './clock.ts';
import type { Origin } from '../service/records/origin.ts';
import type { BlueOperation, LocalEntry, RedRecord } from '../service/records/records.ts';
import type { LogEntry, SavedLog } from './red-log.ts';
import { getPartitionOf, getRedKind, type LogKind } from './local-log.ts';
import type { LogCounts, LogPositions } from './log-positions.ts';

/** Entries of a log from position `start` on. */
export interface RecoveredLog<E> {
  readonly start: number;
  readonly entries: readonly E[];
}

/** The state that a start reads from the files of its site. */
export interface RecoveredState {
  readonly local: RecoveredLog<LocalEntry>;
  /** Of `main`. */
  readonly red: RecoveredRedLog;
  /** The red logs of the other partitions, in the order of their ordinals. */
  readonly partitions?: readonly RecoveredRedLog[] | undefined;
  /** The sections of which all rows are read, and the small parts. */
  readonly checkpoint?: Checkpoint | undefined;
  /** What the store of rows has of the tables. Absent if all rows are in memory. */
  readonly rows?: SavedSection | undefined;
}

export type RecoveredRedLog = RecoveredLog<LogEntry<RedRecord>>;

/** Returns one of the logs. */
export function getRecoveredLog(state: RecoveredState, kind: LogKind): RecoveredLog<unknown> {
  const partition = getPartitionOf(kind);
  return partition === undefined ? state.local : getRecoveredRed(state, partition);
}

/** Returns the red log of the partition with this ordinal. */
export function getRecoveredRed(
  { red, partitions }: RecoveredState,
  partition: number,
): RecoveredRedLog {
  return partition === 0 ? red : (partitions?.[partition - 1] ?? EMPTY_LOG);
}

/** What a site keeps of its copy of a red log that was restored without it. */
export interface KeptRed {
  /** How many of its entries are those of the log. */
  readonly length: number;
  /**
   * Whether the log has lost confirmed records. Then no other site may have as much as this one
   * had.
   */
  readonly isLossy: boolean;
}

/** The parts of a checkpoint beside the sections. */
export interface CheckpointCut {
  readonly smallParts: unknown;
  /** The entries before these places are part of the checkpoint. */
  readonly contained: LogPositions;
}

/** The part of a site's state beside the sections that can be sent to another site. */
export interface SharedSiteState {
  readonly replica: SharedState;
  readonly log: SavedLog;
  /** The red logs of the other partitions, in the order of their ordinals. */
  readonly logs?: readonly SavedLog[];
}

/** Returns the saved red logs by the ordinals of their partitions. */
export function getSavedLogs({ log, logs = [] }: SharedSiteState): readonly SavedLog[] {
  return [log, ...logs];
}

/** Returns the places in the red logs up to which a state contains them. */
export function getRedPositions(shared: SharedSiteState, local: number): LogPositions {
  const positions: LogCounts = { local, red: 0 };
  for (const [partition, { delivered }] of getSavedLogs(shared).entries())
    positions[getRedKind(partition)] = delivered;
  return positions;
}

/** Returns the saved red log of the partition with this ordinal. */
export function getSavedLog(
  { log, logs }: SharedSiteState,
  partition: number,
): SavedLog | undefined {
  return partition === 0 ? log : logs?.[partition - 1];
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

/**
 * The entries of all logs that no checkpoint contains. Those before its cut are kept for other
 * sites.
 */
export function getEntriesAfterCheckpoint({
  local,
  red,
  partitions = [],
  checkpoint,
}: RecoveredState): readonly unknown[] {
  const saved = checkpoint && getSavedSite(checkpoint);
  const after = ({ start, entries }: RecoveredLog<unknown>, cut = 0): readonly unknown[] =>
    entries.slice(Math.max(0, cut - start));
  return [
    ...after(local, saved?.own.syncedLength),
    ...[red, ...partitions].flatMap((log, partition) =>
      after(log, saved && getSavedLog(saved.shared, partition)?.delivered),
    ),
  ];
}

/** The part of a checkpoint that can be sent to another site. */
export function getSharedPart(checkpoint: Checkpoint): Checkpoint {
  return {
    sections: getSections('shared', checkpoint),
    smallParts: getSavedSite(checkpoint).shared,
  };
}

/**
 * Removes stamps from the state of another site that the receiver would refuse from that site
 * itself (RB-Q1 of docs/spec/redblue.md): those that are ahead of `latestMs`, if the clock of the
 * site was. So the receiver does not pass them on.
 */
export function removeWildStamps(
  { sections, smallParts }: Checkpoint,
  latestMs: number,
): Checkpoint {
  const shared = smallParts as SharedSiteState;
  const { unsent = [], savedAtMs = Infinity, ...replica } = shared.replica;
  const accepted = unsent.filter(
    ({ site, vector }) => Math.min(savedAtMs, (vector[site] ?? 0) / MICROS_PER_MS) <= latestMs,
  );
  return {
    sections,
    smallParts: { ...shared, replica: { ...replica, unsent: accepted } },
  };
}

/**
 * Returns the state of a site that begins with the shared part of another site's checkpoint, and
 * has nothing of its own. Its logs go on at the end of that part.
 */
export function createSiteFromShared({ sections, smallParts }: Checkpoint): RecoveredState {
  const shared = smallParts as SharedSiteState;
  const saved: SavedSiteState = { shared, own: EMPTY_OWN_STATE };
  return {
    local: { start: 0, entries: createUnsentEntries(shared) },
    ...toRedLogs(getSavedLogs(shared).map(createEmptyLog)),
    checkpoint: { sections, smallParts: saved },
  };
}

/**
 * Returns the state of a site that was away for so long that it needs the state of another one, and
 * still has its own. It gets the shared part of the other one. It keeps the end of its own stream,
 * its slots, terms and clock, and what it holds of other streams and of the red log beyond that
 * part.
 *
 * @param kept what it keeps of each red log, if these were restored without it. Default: all
 * @throws CorrectableError `UNAVAILABLE` if the other site lacks what this one does not keep any
 * more, or knows this one as closed
 */
export function mergeSharedIntoSite(
  site: Origin,
  own: RecoveredState,
  { sections, smallParts }: Checkpoint,
  kept: readonly KeptRed[] = [],
): RecoveredState {
  const shared = smallParts as SharedSiteState;
  const { applied, origins } = shared.replica;
  const state = origins[site - 1]?.[2];
  if (state !== 'open' && state !== 'joining')
    throw unusableStateError('this site was closed: start it with --rebuild');
  const saved = own.checkpoint && getSavedSite(own.checkpoint);
  const ownState = saved?.own ?? {
    ...EMPTY_OWN_STATE,
    syncedLength: own.local.start,
  };
  const ownApplied = saved?.shared.replica.applied ?? [];
  const redLogs = getSavedLogs(shared).map((log, partition) =>
    mergeRedLog(
      getRecoveredRed(own, partition),
      saved && getSavedLog(saved.shared, partition),
      log,
      kept[partition],
    ),
  );
  const waiting = collectWaiting(own, ownState, applied);
  // Others may not keep any more what this site has confirmed, so it must not be lost here.
  const isIncomplete = waiting.some((operations, origin) => {
    const held = (ownApplied[origin] ?? 0) + (ownState.waiting[origin]?.length ?? 0);
    return operations.length < held - (applied[origin] ?? 0);
  });
  if (isIncomplete)
    throw unusableStateError(
      'it lacks operations that this site has and keeps no more: take that of another, or wait',
    );
  // The count of this site is not that of the rows that it takes.
  const { memoryBytes: _, ...rest } = ownState;
  const merged: SavedSiteState = { shared, own: { ...rest, waiting } };
  return {
    local: {
      ...own.local,
      entries: [
        ...own.local.entries.map((entry) => limitProof(entry, kept)),
        ...createUnsentEntries(shared),
      ],
    },
    ...toRedLogs(redLogs),
    checkpoint: {
      sections: {
        ...sections,
        ...(own.checkpoint && getSections('own', own.checkpoint)),
      },
      smallParts: merged,
    },
  };
}

/**
 * Returns the own state of a site whose red logs were restored without it: it drops the ends of its
 * copies that the logs do not have. Returns `undefined` if it needs the state of another site,
 * because it has delivered records that it drops.
 *
 * @param kept what it keeps of each red log
 */
export function dropLogEnds(
  own: RecoveredState,
  kept: readonly KeptRed[],
): RecoveredState | undefined {
  const lengths = kept.map(({ length }) => length);
  const hasDropped = lengths.some((length, partition) => countDelivered(own, partition) > length);
  if (own.checkpoint === undefined || hasDropped) return undefined;
  const logs = lengths.map((length, partition) => {
    const { start, entries } = getRecoveredRed(own, partition);
    return { start, entries: entries.slice(0, length - start) };
  });
  return { ...own, ...toRedLogs(logs) };
}

/** Returns how many records of a red log a site has delivered, as it knows. */
export function countDelivered({ local, checkpoint }: RecoveredState, partition: number): number {
  const { shared } = (checkpoint && getSavedSite(checkpoint)) ?? {};
  const saved = shared && getSavedLog(shared, partition);
  return local.entries.reduce(
    (most, entry) => Math.max(most, getProven(entry, partition)),
    saved?.delivered ?? 0,
  );
}

/** Returns how many records of a red log an own entry proves. */
function getProven(entry: LocalEntry, partition: number): number {
  const isProof = entry.kind === 'blue' || entry.kind === 'delivered';
  if (!isProof || entry.redDelivered === undefined) return 0;
  return [entry.redDelivered].flat()[partition] ?? 0;
}

/**
 * Returns an own entry that proves no records which a red log has lost. Otherwise later records at
 * their places would count as committed here before a majority has them.
 */
function limitProof(entry: LocalEntry, kept: readonly KeptRed[]): LocalEntry {
  const isProof = entry.kind === 'blue' || entry.kind === 'delivered';
  if (!isProof || entry.redDelivered === undefined) return entry;
  if (!kept.some(({ isLossy }) => isLossy)) return entry;

  const limit = (count: number, partition: number): number => {
    const { length = 0, isLossy = false } = kept[partition] ?? {};
    return isLossy ? Math.min(count, length) : count;
  };
  const { redDelivered } = entry;
  return {
    ...entry,
    redDelivered:
      typeof redDelivered === 'number' ? limit(redDelivered, 0) : redDelivered.map(limit),
  };
}

/**
 * Returns the red log with which a site goes on behind the state of another one: its own, if that
 * reaches the state.
 */
function mergeRedLog(
  own: RecoveredRedLog,
  saved: SavedLog | undefined,
  log: SavedLog,
  { length, isLossy }: KeptRed = { length: Infinity, isLossy: false },
): RecoveredRedLog {
  const { delivered } = log;
  const entries = own.entries.slice(0, Math.max(0, length - own.start));
  const end = Math.min(length, own.start + entries.length);
  const isHeld = own.start <= delivered && end >= delivered;
  const ownDelivered = saved?.delivered ?? 0;
  const isLess = ownDelivered > delivered && !(isHeld && end >= ownDelivered);
  // After a loss, the sites with less cannot go on before this one returns.
  if (isLess && !isLossy)
    throw unusableStateError(
      'it has less of the red log than this site: take the state of another site, or wait',
    );
  return isHeld ? { ...own, entries } : createEmptyLog(log);
}

/** The copy of a red log that goes on behind a saved state. */
function createEmptyLog({ delivered }: SavedLog): RecoveredRedLog {
  return { start: delivered, entries: [] };
}

/** Returns the red logs in the form of a state, from those of all partitions. */
export function toRedLogs([red = EMPTY_LOG, ...partitions]: readonly RecoveredRedLog[]): Pick<
  RecoveredState,
  'red' | 'partitions'
> {
  return partitions.length === 0 ? { red } : { red, partitions };
}

/**
 * Returns log entries for operations that only the donor of a state had. The receiver passes them
 * on.
 */
function createUnsentEntries({ replica }: SharedSiteState): LocalEntry[] {
  return (replica.unsent ?? []).map((operation) => ({
    kind: 'blue',
    operation,
  }));
}

/**
 * Returns by origin the operations that the site holds and that are not in the rows of the other
 * site.
 */
function collectWaiting(
  own: RecoveredState,
  ownState: OwnState,
  applied: readonly number[],
): BlueOperation[][] {
  const held = getOperations(own.local.entries.slice(0, ownState.syncedLength - own.local.start));
  return Array.from({ length: Math.max(applied.length, ownState.waiting.length) }, (_, origin) => {
    const ofOrigin = [
      ...held.filter((operation) => operation.site === origin),
      ...(ownState.waiting[origin] ?? []),
    ];
    return sortDistinct(ofOrigin.filter(({ sequence }) => sequence > (applied[origin] ?? 0)));
  });
}

/**
 * Returns the own operations that a stopped site has to keep, because other sites may lack them.
 */
export function collectOwnTail(site: Origin, own: RecoveredState): BlueOperation[] {
  return sortDistinct(collectTail(own).filter((operation) => operation.site === site));
}

/**
 * Returns the operations of all sites that a stopped site keeps, because other sites may lack them.
 * Some may be there twice.
 */
export function collectTail(own: RecoveredState): BlueOperation[] {
  const waiting =
    own.checkpoint === undefined
      ? []
      : getSavedSite(own.checkpoint).own.waiting.flatMap((operations) => operations ?? []);
  return [...getOperations(own.local.entries), ...waiting];
}

/** Sorts operations of one stream by their sequence, without repetitions. */
function sortDistinct(operations: readonly BlueOperation[]): BlueOperation[] {
  const bySequence = new Map(operations.map((operation) => [operation.sequence, operation]));
  return [...bySequence.values()].toSorted((a, b) => a.sequence - b.sequence);
}

function getOperations(entries: readonly LocalEntry[]): BlueOperation[] {
  return entries.flatMap((entry) => (entry.kind === 'blue' ? [entry.operation] : []));
}

function unusableStateError(problem: string): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    `The state of the other site cannot be used here: ${problem}. Nothing was changed.`,
  );
}

const EMPTY_LOG: RecoveredLog<never> = { start: 0, entries: [] };
/** The state of a new site. */
export const EMPTY_STATE: RecoveredState = { local: EMPTY_LOG, red: EMPTY_LOG };
