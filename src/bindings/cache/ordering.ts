/** Which of two views of the same operation is the newer one. */
import { structurallyEqual } from '../../correctable/equal.ts';

/** Whether `version` is older than `than`: a binding's own order, see `Binding.isOlder`. */
export type IsOlder = (version: unknown, than: unknown) => boolean;

/** How one version stands to another. `'unknown'`: absent, concurrent, or without an order, such as entity tags. */
export type Standing = 'older' | 'same' | 'newer' | 'unknown';

/** How `version` stands to `other`. */
export function standing(version: unknown, other: unknown, isOlder: IsOlder): Standing {
  if (version === undefined || other === undefined) return 'unknown';
  if (isOlder(version, other)) return 'older';
  if (isOlder(other, version)) return 'newer';
  return structurallyEqual(version, other) ? 'same' : 'unknown';
}

/** What orders one view against another. */
export interface Recency {
  readonly version: unknown;
  /** How strong its level is, from 0. */
  readonly rank: number;
  /** When the operation that gave it began. */
  readonly order: number;
}

/**
 * Whether `next` may take the place of `current`: never by an older version; where versions tell nothing, never by a
 * weaker level, which may lag behind, nor by an operation that began earlier.
 */
export function mayReplace(next: Recency, current: Recency, isOlder: IsOlder): boolean {
  const is = standing(next.version, current.version, isOlder);
  if (is === 'older' || is === 'newer') return is === 'newer';
  return next.rank >= current.rank && next.order >= current.order;
}
