/**
 * The generation of the red log. If the leader's site is lost, an operator restores the log at the
 * site that has most of it. First all remaining sites are *sealed*, so that none of them adds
 * records. Then the log continues in the next generation.
 *
 * If there are several red logs, they have one generation, and are restored at once. Otherwise a
 * record of one log could come after another log was restored, and name entries that its new
 * generation does not have.
 */
import { isRecord } from '../../../correctable/validate.ts';
import type { LogCopy } from './log-copy.ts';
import type { NamedEntries } from './named-entries.ts';

export const SEAL_RED = 'red.seal';
export const OPEN_RED = 'red.open';
export const READ_RED = 'red.read';

/** The generation that a node follows. */
export interface RedGeneration {
  /** 0 when the deployment is created. */
  readonly generation: number;
  /** The site that leads the log of `main`; `null` while the logs are sealed. */
  readonly leader: string | null;
  /** The copy of the log with which its leader began. Absent for the first generation. */
  readonly base?: LogCopy;
  /** What its log begins with, if that was restored with a loss. */
  readonly opening?: NamedEntries;
  /**
   * The logs of the other partitions, by their ordinals. Present only if there are several logs,
   * and they are not sealed.
   */
  readonly logs?: readonly PartitionLog[];
  /**
   * The partitions whose named voters were all lost. From that generation on, all open sites are
   * voters of these logs. A site that is sealed keeps this: it may be the only one that knows it.
   * Absent if there are none.
   */
  readonly votedByAll?: readonly string[];
}

/** One of the red logs of a generation. */
export interface GenerationLog {
  readonly leader: string | null;
  readonly base?: LogCopy | undefined;
  readonly opening?: NamedEntries | undefined;
}

/** The red log of a partition beside `main`. */
export interface PartitionLog {
  /** The name of the partition. */
  readonly name: string;
  readonly leader: string;
  readonly base?: LogCopy;
  readonly opening?: NamedEntries;
}

/** The copies that a site has. */
export interface SiteCopies extends LogCopy {
  /** Those of the other partitions, by their ordinals. Present only if there are several logs. */
  readonly others?: readonly LogCopy[];
}

export interface StoredGeneration extends RedGeneration {
  /** The generation of the copies on the disk, if it is not the one that the node follows. */
  readonly copy?: number | undefined;
  /**
   * What each log of that generation began with, by the ordinal of its partition. Present only
   * together with `copy`, and if that is not the first generation.
   */
  readonly begins?: readonly LogCopy[] | undefined;
}

/** The reply of a site that is asked for its generation. */
export interface ReadReply extends RedGeneration {
  /** Whether the site receives the state of another site. Then it cannot be sealed. */
  readonly isTransferring?: boolean;
  /** Its copies of the logs, if it receives a state and the request asks for them. */
  readonly own?: SiteCopies | undefined;
  /**
   * The ordinals of the logs in whose copies the site has no vote yet. Present only if there are
   * any.
   */
  readonly withoutVote?: readonly number[];
  /**
   * The reason if the site could not start again after sealing. Present only if the request asks
   * for it.
   */
  readonly problem?: string | undefined;
}

/** The reply of a sealed site, with its copies of the logs. */
export interface SealReply extends RedGeneration, SiteCopies {}

export function getCopyGeneration({ generation, leader, copy }: StoredGeneration): number {
  return copy ?? (leader === null ? generation - 1 : generation);
}

/** Returns the logs of a generation by the ordinals of their partitions. */
export function getLogs({
  leader,
  base,
  opening,
  logs = [],
}: RedGeneration): readonly GenerationLog[] {
  return [{ leader, base, opening }, ...logs];
}

/** Returns the copies of a site by the ordinals of their partitions. */
export function getCopies({ copy, length, begin, others = [] }: SiteCopies): readonly LogCopy[] {
  return [{ copy, length, begin }, ...others];
}

/** Returns what each log of a generation began with; `undefined` for the first generation. */
export function getBegins(red: RedGeneration): readonly LogCopy[] | undefined {
  const bases = getLogs(red).flatMap(({ base }) => base ?? []);
  return bases.length === 0 ? undefined : bases;
}

/** A partition, as `cluster.json` has it. */
export interface VotedPartition {
  readonly name: string;
  readonly voters?: readonly string[] | undefined;
}

/** Returns the names of the voters of a log; `undefined` if all open sites are voters. */
export function getNamedVoters(
  { votedByAll = [] }: Pick<RedGeneration, 'votedByAll'>,
  partition: VotedPartition,
): readonly string[] | undefined {
  return votedByAll.includes(partition.name) ? undefined : partition.voters;
}

/** @throws Error if the value is not a generation */
export function parseRedGeneration(value: unknown): RedGeneration {
  const fields = isRecord(value) ? value : {};
  const { generation, leader, base, opening, logs = [], votedByAll = [] } = fields;
  const isLeader = leader === null || typeof leader === 'string';
  if (
    isCount(generation) &&
    isLeader &&
    isBase(base) &&
    isOpening(opening) &&
    Array.isArray(logs) &&
    logs.every(isPartitionLog) &&
    Array.isArray(votedByAll) &&
    votedByAll.every((name) => typeof name === 'string')
  )
    return value as unknown as RedGeneration;
  throw new Error('a generation of the red log must have a number and a leader');
}

function isPartitionLog(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value['name'] === 'string' &&
    typeof value['leader'] === 'string' &&
    isBase(value['base']) &&
    isOpening(value['opening'])
  );
}

function isOpening(value: unknown): boolean {
  if (value === undefined) return true;
  return isRecord(value) && isCount(value['stamp']) && Array.isArray(value['holds']);
}

function isBase(value: unknown): boolean {
  const { copy = 0, length = 0, begin } = isRecord(value) ? value : {};
  const isNested = begin === undefined || isBase(begin);
  return isCount(copy) && isCount(length) && isNested;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Returns whether a node that follows `own` must follow `other` from now on. */
export function isSuperseded(own: RedGeneration, other: RedGeneration): boolean {
  if (other.leader === null) return false;
  return (
    other.generation > own.generation ||
    (other.generation === own.generation && own.leader === null)
  );
}
