/**
 * The generation of the red log. If the leader's site is lost, an operator
 * restores the log at the site that has most of it. First all remaining sites
 * are *sealed*, so that none of them adds records. Then the log continues in
 * the next generation.
 *
 * If there are several red logs, they have one generation, and are restored at
 * once. Otherwise a record of one log could come after another log was
 * restored, and name entries that its new generation does not have.
 */
import { isRecord } from '../../../correctable/validate.ts';
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
  /**
   * The copy of the log with which its leader began. Absent for the first
   * generation.
   */
  readonly base?: LogCopy;
  /** What its log begins with, if that was restored with a loss. */
  readonly opening?: NamedEntries;
  /**
   * The logs of the other partitions, by their ordinals. Present only if there
   * are several logs, and they are not sealed.
   */
  readonly logs?: readonly PartitionLog[];
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

/** Identifies a copy of the log on a disk: its generation and its length. */
export interface LogCopy {
  /**
   * The generation of which it is a copy. Of two copies of one generation, the
   * shorter one is a prefix of the longer one.
   */
  readonly copy: number;
  readonly length: number;
}

/** A copy of a log, as a site reports it. */
export interface SiteCopy extends LogCopy {
  /**
   * The copy with which the leader began the generation of this one. Until the
   * site has more than that, it has nothing of the generation itself. Present
   * only if there are several logs: then a site may follow a generation before
   * it has all of that.
   */
  readonly begin?: LogCopy | undefined;
}

/** The copies that a site has. */
export interface SiteCopies extends SiteCopy {
  /**
   * Those of the other partitions, by their ordinals. Present only if there are
   * several logs.
   */
  readonly others?: readonly SiteCopy[];
}

export interface StoredGeneration extends RedGeneration {
  /**
   * The generation of the copies on the disk, if it is not the one that the
   * node follows.
   */
  readonly copy?: number | undefined;
  /**
   * What each log of that generation began with, by the ordinal of its
   * partition. Present only if there are several logs.
   */
  readonly begins?: readonly LogCopy[] | undefined;
}

/** The reply of a site that is asked for its generation. */
export interface ReadReply extends RedGeneration {
  /**
   * Whether the site receives the state of another site. Then it cannot be
   * sealed.
   */
  readonly isTransferring?: boolean;
  /**
   * Its copies of the logs, if it receives a state and the request asks for
   * them.
   */
  readonly own?: SiteCopies | undefined;
  /**
   * The reason if the site could not start again after sealing. Present only if
   * the request asks for it.
   */
  readonly problem?: string | undefined;
}

/** The reply of a sealed site, with its copies of the logs. */
export interface SealReply extends RedGeneration, SiteCopies {}

export function getCopyGeneration({
  generation,
  leader,
  copy,
}: StoredGeneration): number {
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
export function getCopies({
  copy,
  length,
  begin,
  others = [],
}: SiteCopies): readonly SiteCopy[] {
  return [{ copy, length, begin }, ...others];
}

/**
 * Returns what each log of a generation began with; `undefined` for the first
 * generation, and if there is one log only.
 */
export function getBegins(red: RedGeneration): readonly LogCopy[] | undefined {
  if (red.logs === undefined) return undefined;
  const bases = getLogs(red).flatMap(({ base }) => base ?? []);
  return bases.length === 0 ? undefined : bases;
}

/**
 * Returns the copy as one of an earlier generation, if it has nothing of its
 * own one yet.
 */
export function toEarliest({ copy, length, begin }: SiteCopy): LogCopy {
  return begin !== undefined && length <= begin.length
    ? { copy: begin.copy, length }
    : { copy, length };
}

/** Returns whether a copy is a prefix of the log of a generation. */
export function isPrefix(
  copy: SiteCopy,
  { base }: Pick<GenerationLog, 'base'>,
): boolean {
  if (base === undefined) return false;
  return [copy, toEarliest(copy)].some(
    (item) => item.copy === base.copy && item.length <= base.length,
  );
}

/**
 * Returns whether the copy `a` has more of the log. A later generation has
 * more, however many records the earlier one has: its records were taken over,
 * or were not confirmed.
 */
export function isLonger(a: SiteCopy, b: SiteCopy): boolean {
  const [own, other] = [toEarliest(a), toEarliest(b)];
  return (
    own.copy > other.copy ||
    (own.copy === other.copy && own.length > other.length)
  );
}

/** @throws Error if the value is not a generation */
export function parseRedGeneration(value: unknown): RedGeneration {
  const fields = isRecord(value) ? value : {};
  const { generation, leader, base, opening, logs = [] } = fields;
  const isLeader = leader === null || typeof leader === 'string';
  if (
    isCount(generation) &&
    isLeader &&
    isBase(base) &&
    isOpening(opening) &&
    Array.isArray(logs) &&
    logs.every(isPartitionLog)
  )
    return value as unknown as RedGeneration;
  throw new Error(
    'a generation of the red log must have a number and a leader',
  );
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
  return (
    isRecord(value) && isCount(value['stamp']) && Array.isArray(value['holds'])
  );
}

function isBase(value: unknown): boolean {
  const { copy = 0, length = 0 } = isRecord(value) ? value : {};
  return isCount(copy) && isCount(length);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Returns whether a node that follows `own` must follow `other` from now on.
 */
export function isSuperseded(
  own: RedGeneration,
  other: RedGeneration,
): boolean {
  if (other.leader === null) return false;
  return (
    other.generation > own.generation ||
    (other.generation === own.generation && own.leader === null)
  );
}
