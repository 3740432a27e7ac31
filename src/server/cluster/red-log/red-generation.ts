/**
 * The generation of the red log. If the leader's site is lost, an operator
 * restores the log at the site that has most of it. First all remaining sites
 * are *sealed*, so that none of them adds records. Then the log continues in
 * the next generation.
 */
import { isRecord } from '../../../correctable/validate.ts';

export const SEAL_RED = 'red.seal';
export const OPEN_RED = 'red.open';
export const READ_RED = 'red.read';

/** The generation that a node follows. */
export interface RedGeneration {
  /** 0 when the deployment is created. */
  readonly generation: number;
  /** The site that leads the log; `null` while the log is sealed. */
  readonly leader: string | null;
  /**
   * The copy of the log with which its leader began. Absent for the first
   * generation.
   */
  readonly base?: LogCopy;
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

export interface StoredGeneration extends RedGeneration {
  /**
   * The generation of the copy on the disk, if it is not the one that the node
   * follows.
   */
  readonly copy?: number | undefined;
}

/** The reply of a site that is asked for its generation. */
export interface ReadReply extends RedGeneration {
  /**
   * Whether the site receives the state of another site. Then it cannot be
   * sealed.
   */
  readonly isTransferring?: boolean;
  /**
   * Its copy of the log, if it receives a state and the request asks for the
   * copy.
   */
  readonly own?: LogCopy | undefined;
  /**
   * The reason if the site could not start again after sealing. Present only if
   * the request asks for it.
   */
  readonly problem?: string | undefined;
}

/** The reply of a sealed site, with its copy of the log. */
export interface SealReply extends RedGeneration, LogCopy {}

export function getCopyGeneration({
  generation,
  leader,
  copy,
}: StoredGeneration): number {
  return copy ?? (leader === null ? generation - 1 : generation);
}

/** Returns whether a copy is a prefix of the log of a generation. */
export function isPrefix(
  { copy, length }: LogCopy,
  { base }: RedGeneration,
): boolean {
  return base !== undefined && copy === base.copy && length <= base.length;
}

/** @throws Error if the value is not a generation */
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
