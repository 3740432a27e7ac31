/**
 * Decides which of two views of one operation the cache keeps. If nothing shows which of them is
 * newer, it keeps neither: the older one could come back after the newer one was shown. From then
 * on it accepts only a view that is surely newer than both.
 */
import { copyPlainData, NotPlainDataError } from '../../values/deep-copy.ts';
import type { CacheEntry } from './cache-store.ts';
import type { ExpiryTimer } from './expiry-timer.ts';
import { getViewTag } from './tags.ts';
import { TagTimestamps } from './tag-timestamps.ts';
import type { CachedView, ViewCache } from './view-cache.ts';
import {
  BEFORE_LOCAL_TIME,
  comparePrecedence,
  type InvalidationKind,
  type IsOlder,
  type PrecedenceVerdict,
  type SuccessorView,
  type ViewRecency,
} from './view-precedence.ts';
import type { ViewReports } from './view-reports.ts';

export interface ViewPlacementOptions {
  readonly cache: ViewCache;
  readonly expiry: ExpiryTimer;
  readonly reports: ViewReports;
  readonly maxEntries: number;
  readonly getRank: (level: string) => number;
  readonly isOlder: IsOlder;
}

/** The view that is cached, and what has changed since the operation of the next view began. */
export interface PlacementContext {
  readonly current: CachedView | undefined;
  readonly invalidation: InvalidationKind;
  /** All views that were learned until this time are no newer than the next view. */
  readonly startedAt: number;
}

/** A view with the times by which it is compared. */
export interface TimedView {
  readonly entry: CacheEntry;
  readonly startedAt: number;
  readonly learnedAt: number;
}

export class ViewPlacement {
  readonly #options: ViewPlacementOptions;
  /** For each id, when the latest of those views was learned that no rule could order. */
  readonly #unorderedViews: TagTimestamps;

  constructor(options: ViewPlacementOptions) {
    this.#options = options;
    this.#unorderedViews = new TagTimestamps(options.maxEntries);
  }

  /** Caches `next` if the rule of precedence allows it. */
  place(
    id: string,
    next: CachedView,
    { current, invalidation, startedAt }: PlacementContext,
  ): void {
    const verdict = this.compare({ ...next, startedAt }, current, invalidation);
    if (verdict === 'neither') this.#markUnordered(id, next);
    else if (verdict === 'keep' && current !== undefined) this.#putIfAbsent(id, current);
    else
      this.#put(
        id,
        verdict === 'same' && current !== undefined ? this.#mergeViews(next, current) : next,
      );
  }

  /**
   * Caches a view that a store had, as if from before this page. If the page has a view of its own,
   * `learned`, the rule of precedence decides.
   */
  restore(id: string, restored: CachedView, learned: CachedView | undefined): void {
    if (learned === undefined) {
      this.#put(id, restored);
      return;
    }
    const verdict = this.compare(learned, { ...restored, learnedAt: BEFORE_LOCAL_TIME }, 'none');
    if (verdict === 'neither') this.#markUnordered(id, restored);
    else if (verdict === 'keep') this.#put(id, restored);
    else if (verdict === 'same') this.#put(id, this.#mergeViews(learned, restored));
  }

  compare(
    next: TimedView & { readonly isStrongest: boolean },
    current: TimedView | undefined,
    invalidation: InvalidationKind,
  ): PrecedenceVerdict {
    const successor: SuccessorView = {
      ...this.#toRecency(next),
      isStrongest: next.isStrongest,
    };
    return comparePrecedence(
      successor,
      current && this.#toRecency(current),
      invalidation,
      this.#options.isOlder,
    );
  }

  /**
   * Returns when the last of several views that no rule could order was learned, or 0 if there is
   * none.
   */
  getUnorderedTime(id: string): number {
    return this.#unorderedViews.getLatestTime([getViewTag(id)]);
  }

  /**
   * Returns `write` for a view that began at `startedAt` and may be older than a view that no rule
   * could order. Otherwise returns `none`. The caller then handles it like a view from before a
   * change.
   */
  getUnorderedInvalidation(id: string, startedAt: number, isStrongest: boolean): InvalidationKind {
    const unorderedAt = this.getUnorderedTime(id);
    return unorderedAt > 0 && !(isStrongest && startedAt >= unorderedAt) ? 'write' : 'none';
  }

  #toRecency({ entry: { value, version, level }, startedAt, learnedAt }: TimedView): ViewRecency {
    return {
      value,
      version,
      rank: this.#options.getRank(level),
      startedAt,
      learnedAt,
    };
  }

  /** Merges two copies of one view: the stronger level, and the later time. */
  #mergeViews(next: CachedView, current: CachedView): CachedView {
    const { learnedAt, expiresAtMs, entry } = next;
    const { getRank } = this.#options;
    const rankDifference = getRank(entry.level) - getRank(current.entry.level);
    if (rankDifference < 0)
      return {
        ...current,
        entry: { ...current.entry, cachedAt: entry.cachedAt },
        learnedAt,
        expiresAtMs,
      };
    return rankDifference > 0
      ? next
      : { ...next, startedAt: Math.max(next.startedAt, current.startedAt) };
  }

  /** Accepts from now on only a view that is surely newer than this one. */
  #markUnordered(id: string, { learnedAt }: CachedView): void {
    this.#options.cache.delete(id);
    this.#unorderedViews.record([getViewTag(id)], learnedAt);
  }

  #putIfAbsent(id: string, current: CachedView): void {
    const { cache } = this.#options;
    if (cache.peek(id) === undefined) cache.put(id, current);
  }

  #put(id: string, view: CachedView): void {
    const { cache, expiry, reports } = this.#options;
    try {
      // Copy the value, because the application may change the object that it receives.
      const value = copyPlainData(view.entry.value);
      const meta = copyPlainData(view.entry.meta, 'meta');
      const lossyVersion = this.#findLossyVersionPath(view.entry);
      const entry = {
        ...view.entry,
        value: value.value,
        ...(meta.value && { meta: meta.value }),
      };

      const lossyPath = value.lossyPath ?? meta.lossyPath ?? lossyVersion;
      if (lossyPath !== undefined) reports.reportLossyPath(id, lossyPath);

      cache.put(id, { ...view, entry, isDurable: lossyPath === undefined });
      expiry.scheduleSweep(view.expiresAtMs);
    } catch (cause) {
      this.#markUnordered(id, view);
      reports.reportCopyError(id, cause);
    }
  }

  /**
   * Returns the path in the version at which a store would change the data, if there is one. The
   * cache keeps the version itself, not a copy, because the binding compares it.
   */
  #findLossyVersionPath({ version }: CacheEntry): string | undefined {
    try {
      return copyPlainData(version, 'version').lossyPath;
    } catch (error) {
      return error instanceof NotPlainDataError ? error.path : 'version';
    }
  }
}
