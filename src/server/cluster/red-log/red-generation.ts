/**
 * The generation of the red log. If the site of its leader is lost, an operator
 * restores it at the site that has most of it: first all sites left are
 * *sealed*, so that none gets further, then it goes on under the next
 * generation.
 */
import { isRecord } from '../../../correctable/validate.ts';

export const SEAL_RED = 'red.seal';
export const OPEN_RED = 'red.open';
export const READ_RED = 'red.read';

/** What a node follows. */
export interface RedGeneration {
  /** 0 when the deployment is created. */
  readonly generation: number;
  /** The site that leads the log; `null` while the log is sealed. */
  readonly leader: string | null;
  /** What its leader began with; none of the first generation. */
  readonly base?: LogCopy;
}

/** A copy of the log on a disk. */
export interface LogCopy {
  /**
   * The generation whose log it is a copy of. Of two copies of one generation,
   * the shorter one is a beginning of the other.
   */
  readonly copy: number;
  readonly length: number;
}

export interface StoredGeneration extends RedGeneration {
  /**
   * The generation of the copy on the disk, if that is not the one that is
   * followed.
   */
  readonly copy?: number | undefined;
}

/** The reply of a site that is asked what it follows. */
export interface ReadReply extends RedGeneration {
  /** Whether it takes the state of another site: then it cannot be sealed. */
  readonly isTransferring?: boolean;
  /** Its copy of the log, if it takes a state and was asked for that. */
  readonly own?: LogCopy | undefined;
  /** Why it cannot be sealed and opened again, if it was asked for that. */
  readonly problem?: string | undefined;
}

/** The reply of a sealed site: with its copy of the log. */
export interface SealReply extends RedGeneration, LogCopy {}

export function getCopyGeneration({
  generation,
  leader,
  copy,
}: StoredGeneration): number {
  return copy ?? (leader === null ? generation - 1 : generation);
}

/** Whether a copy is a beginning of the log of a generation. */
export function isPrefix(
  { copy, length }: LogCopy,
  { base }: RedGeneration,
): boolean {
  return base !== undefined && copy === base.copy && length <= base.length;
}

/** @throws Error if it is none */
export function parseRedGeneration(value: unknown): RedGeneration {
  const { generation, leader, base } = isRecord(value) ? value : {};
  const isLeader = leader === null || typeof leader === 'string';
  const { copy = 0, length = 0 } = isRecord(base) ? base : {};
  if (
    [generation, copy, length].every(
      (item) => Number.isSafeInteger(item) && (item as number) >= 0,
    ) &&
    isLeader
  )
    return value as unknown as RedGeneration;
  throw new Error(
    'a generation of the red log must have a number and a leader',
  );
}

/** Whether a node that follows `own` must follow `other` from now on. */
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
