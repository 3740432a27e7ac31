/**
 * Decides which of two views of the same operation is kept. Memory, restoring and transactions of
 * the store use this one rule.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';

/**
 * Returns whether `version` is older than `than`, by a binding's own order. See `Binding.isOlder`.
 */
export type IsOlder = (version: unknown, than: unknown) => boolean;

/**
 * The order of two versions. `'unknown'`: absent, concurrent, or without an order, such as entity
 * tags.
 */
export type VersionOrder = 'older' | 'same' | 'newer' | 'unknown';

export function compareVersions(version: unknown, other: unknown, isOlder: IsOlder): VersionOrder {
  if (version === undefined || other === undefined) return 'unknown';
  if (isOlder(version, other)) return 'older';
  if (isOlder(other, version)) return 'newer';
  return structurallyEqual(version, other) ? 'same' : 'unknown';
}

export interface ViewRecency {
  readonly value: unknown;
  readonly version: unknown;
  /** The rank of the view's level, from 0. */
  readonly rank: number;
  /**
   * When the operation of the view began, by the clock of the page that compares. At most
   * `BEFORE_LOCAL_TIME` if the view comes from a store or another page.
   */
  readonly startedAt: number;
  /**
   * When the view was learned, by the same clock. An operation that begins after that is executed
   * later.
   */
  readonly learnedAt: number;
}

export interface SuccessorView extends ViewRecency {
  /** Whether the inner binding has no stronger level for this operation. */
  readonly isStrongest: boolean;
}

/** Before all times of this clock: the time of stored views and of other pages. */
export const BEFORE_LOCAL_TIME = 0;

/**
 * `'take'`: keep the next view. `'keep'`: keep the current one. `'same'`: both are copies of one
 * view, so keep the stronger level and the later time. `'neither'`: it is unknown which one is
 * newer, so keep none of them.
 */
export type PrecedenceVerdict = 'take' | 'keep' | 'same' | 'neither';

/**
 * The kind of change since a view was read. After a `write` only a newer version is accepted, after
 * a `drop` none.
 */
export type InvalidationKind = 'none' | 'write' | 'drop';

export function getStrongestInvalidation(
  ...invalidations: readonly InvalidationKind[]
): InvalidationKind {
  return invalidations.includes('drop')
    ? 'drop'
    : invalidations.includes('write')
      ? 'write'
      : 'none';
}

export function comparePrecedence(
  next: SuccessorView,
  current: ViewRecency | undefined,
  invalidation: InvalidationKind,
  isOlder: IsOlder,
): PrecedenceVerdict {
  if (current === undefined) return invalidation === 'none' ? 'take' : 'neither';
  const is = compareVersions(next.version, current.version, isOlder);
  if (is === 'newer') return invalidation === 'drop' ? 'neither' : 'take';
  if (is === 'same' || (is === 'unknown' && structurallyEqual(next.value, current.value))) {
    return invalidation === 'drop' ? 'keep' : 'same';
  }
  if (invalidation !== 'none') return is === 'older' ? 'keep' : 'neither';
  const isLater = next.startedAt >= current.learnedAt;
  // The later reply of the strongest level wins, even if its version is lower: the store may have
  // been restored from a backup.
  if (next.isStrongest && isLater) return 'take';
  // Versions cannot decide here: the store may have been restored from a backup before this clock
  // began.
  if (is === 'older')
    return next.isStrongest && current.startedAt <= BEFORE_LOCAL_TIME ? 'neither' : 'keep';
  if (next.rank >= current.rank && isLater) return 'take';
  return current.rank >= next.rank && current.startedAt >= next.learnedAt ? 'keep' : 'neither';
}
