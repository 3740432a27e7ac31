/**
 * Which of two views of the same operation is kept: one rule, in memory, on
 * restoring, and in the store's transaction.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';

/**
 * Whether `version` is older than `than`: a binding's own order, see
 * `Binding.isOlder`.
 */
export type IsOlder = (version: unknown, than: unknown) => boolean;

/**
 * How one version stands to another. `'unknown'`: absent, concurrent, or
 * without an order, such as entity tags.
 */
export type VersionOrder = 'older' | 'same' | 'newer' | 'unknown';

export function compareVersions(
  version: unknown,
  other: unknown,
  isOlder: IsOlder,
): VersionOrder {
  if (version === undefined || other === undefined) return 'unknown';
  if (isOlder(version, other)) return 'older';
  if (isOlder(other, version)) return 'newer';
  return structurallyEqual(version, other) ? 'same' : 'unknown';
}

export interface ViewRecency {
  readonly value: unknown;
  readonly version: unknown;
  /** How strong its level is, from 0. */
  readonly rank: number;
  /**
   * When its operation began, in the time of the judging page; at most
   * `BEFORE_LOCAL_TIME` if it has another time.
   */
  readonly startedAt: number;
  /**
   * When it was learnt, in the same counting: an operation that begins later is
   * executed later.
   */
  readonly learnedAt: number;
}

export interface SuccessorView extends ViewRecency {
  /** Whether the store behind has nothing stronger to say of it. */
  readonly isStrongest: boolean;
}

/** Before all that this counting knows: what a store kept, or another page. */
export const BEFORE_LOCAL_TIME = 0;

/**
 * `'take'` the next one; `'keep'` the current one; `'same'`: they are one view,
 * the stronger or later of them counts; `'neither'`: nothing says which is the
 * newer one, and a cached view may always be absent.
 */
export type PrecedenceVerdict = 'take' | 'keep' | 'same' | 'neither';

/**
 * What happened since a view was read. After a `write` only a newer version is
 * let in, after a `drop` nothing.
 */
export type InvalidationKind = 'none' | 'write' | 'drop';

export function getStrongestInvalidation(
  ...fences: readonly InvalidationKind[]
): InvalidationKind {
  return fences.includes('drop')
    ? 'drop'
    : fences.includes('write')
      ? 'write'
      : 'none';
}

export function comparePrecedence(
  next: SuccessorView,
  current: ViewRecency | undefined,
  fence: InvalidationKind,
  isOlder: IsOlder,
): PrecedenceVerdict {
  if (current === undefined) return fence === 'none' ? 'take' : 'neither';
  const is = compareVersions(next.version, current.version, isOlder);
  if (is === 'newer') return fence === 'drop' ? 'neither' : 'take';
  if (
    is === 'same' ||
    (is === 'unknown' && structurallyEqual(next.value, current.value))
  ) {
    return fence === 'drop' ? 'keep' : 'same';
  }
  if (fence !== 'none') return is === 'older' ? 'keep' : 'neither';
  const isLater = next.startedAt >= current.learnedAt;
  // What the store says now is the truth, even where it counts from lower
  // versions than before: it came from a backup.
  if (next.isStrongest && isLater) return 'take';
  // Or so it may have been before this counting began.
  if (is === 'older')
    return next.isStrongest && current.startedAt <= BEFORE_LOCAL_TIME
      ? 'neither'
      : 'keep';
  if (next.rank >= current.rank && isLater) return 'take';
  return current.rank >= next.rank && current.startedAt >= next.learnedAt
    ? 'keep'
    : 'neither';
}
