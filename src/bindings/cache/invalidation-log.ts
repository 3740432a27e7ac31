/**
 * Remembers what changed when, so that a view from before a change, or one that lags, does not
 * enter the cache again.
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

/** A change, or a request to drop views. */
export interface Invalidation {
  /**
   * `'write'`: an update, whose author must never see the earlier value again. `'drop'`: a request
   * to drop views, after which no client depends on seeing the change at once.
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

  /** Records a change at `time`, which is later than all times before. */
  record({ kind, scope, principal }: Invalidation, time: number): void {
    (kind === 'write' ? this.#writes : this.#drops).record(scope, time);
    if (kind === 'write') this.#authors.add(principal, scope);
    else if (scope === undefined) this.#writes.collapse();
  }

  /** Adds the authors of an earlier log, whose times are before all of this one. */
  importAuthors({ authors }: InvalidationLogData): void {
    this.#authors.merge(authors);
  }

  /** Returns when an object with these tags last changed, or may have changed. 0 means never. */
  getLatestTime(tags: readonly string[]): number {
    return Math.max(this.#writes.getLatestTime(tags), this.#drops.getLatestTime(tags));
  }

  /**
   * Returns the most severe kind of change that speaks against caching a view. A level below the
   * strongest may never show an update of the same principal.
   */
  findInvalidation(
    tags: readonly string[],
    { principal, startedAt, isStrongest }: ViewContext,
  ): InvalidationKind {
    if (this.#drops.getLatestTime(tags) > startedAt) return 'drop';
    const isBefore = this.#writes.getLatestTime(tags) > startedAt;
    return isBefore || (!isStrongest && this.#authors.has(principal, tags)) ? 'write' : 'none';
  }
}

export interface ViewContext {
  readonly principal: string;
  readonly startedAt: number;
  readonly isStrongest: boolean;
}
