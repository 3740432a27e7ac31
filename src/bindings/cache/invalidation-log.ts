/**
 * Remembers what changed when, so that what was read before, or lags behind,
 * does not come back into a cache.
 */
import { WriteAuthors, type WriteAuthorsData } from './updated-tags.ts';
import type { TagScope } from './tags.ts';
import type { InvalidationKind } from './view-precedence.ts';
import { TagTimestamps, type TagTimestampsData } from './tag-timestamps.ts';

export interface InvalidationLogData {
  readonly writes: TagTimestampsData;
  readonly drops: TagTimestampsData;
  readonly authors: WriteAuthorsData;
}

/** Something that was changed, or is to be forgotten. */
export interface Invalidation {
  /**
   * `'write'`: its author never sees the value from before. `'drop'`: no client
   * has to see it at once.
   */
  readonly kind: 'write' | 'drop';
  readonly scope: TagScope;
  /** The principal that made an update. Default: any. */
  readonly principal?: string | undefined;
}

export class InvalidationLog {
  readonly #writes: TagTimestamps;
  readonly #drops: TagTimestamps;
  readonly #authors: WriteAuthors;

  constructor(maxMarks: number, data?: InvalidationLogData) {
    this.#writes = new TagTimestamps(maxMarks, data?.writes);
    this.#drops = new TagTimestamps(maxMarks, data?.drops);
    this.#authors = new WriteAuthors(maxMarks, data?.authors);
  }

  get data(): InvalidationLogData {
    return {
      writes: this.#writes.data,
      drops: this.#drops.data,
      authors: this.#authors.data,
    };
  }

  /** It happened at `time`, which is later than any before. */
  record({ kind, scope, principal }: Invalidation, time: number): void {
    (kind === 'write' ? this.#writes : this.#drops).record(scope, time);
    if (kind === 'write') this.#authors.add(principal, scope);
    else if (scope === undefined) this.#writes.collapse();
  }

  /**
   * Takes over from an earlier counting, before all of this one, who had
   * updated what.
   */
  importAuthors({ authors }: InvalidationLogData): void {
    this.#authors.merge(authors);
  }

  /** When something with these marks last changed, or may have; 0 for never. */
  getLatestTime(marks: readonly string[]): number {
    return Math.max(
      this.#writes.getLatestTime(marks),
      this.#drops.getLatestTime(marks),
    );
  }

  /**
   * What stands between a view and the cache: weaker levels than the strongest
   * lag behind an own update for ever.
   */
  findInvalidation(
    marks: readonly string[],
    { principal, startedAt, isStrongest }: ViewContext,
  ): InvalidationKind {
    if (this.#drops.getLatestTime(marks) > startedAt) return 'drop';
    const isBefore = this.#writes.getLatestTime(marks) > startedAt;
    return isBefore || (!isStrongest && this.#authors.has(principal, marks))
      ? 'write'
      : 'none';
  }
}

export interface ViewContext {
  readonly principal: string;
  readonly startedAt: number;
  readonly isStrongest: boolean;
}
