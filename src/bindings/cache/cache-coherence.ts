/**
 * The rules of coherence (OSDI 2016, §5.2; docs/spec/cache.md). They decide which views are cached,
 * and which cached views are dropped.
 */
import type { Clock } from '../../correctable/clock.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { Operation } from '../../correctable/operation.ts';
import { copyPlainData, copyOrReuse } from '../../values/deep-copy.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import {
  InvalidationLog,
  type Invalidation,
  type InvalidationLogData,
} from './invalidation-log.ts';
import { getViewReader, type ViewOwner } from './cache-key.ts';
import type { CachedWrite } from './options.ts';
import type { CacheOperation, InnerView } from './cache-operation.ts';
import { ViewPlacement } from './view-placement.ts';
import { ViewReports } from './view-reports.ts';
import { getTags, getObjectTags, getScope } from './tags.ts';
import type { SeenView } from './cache-session.ts';
import type { CacheEntry } from './cache-store.ts';
import {
  BEFORE_LOCAL_TIME,
  getStrongestInvalidation,
  type InvalidationKind,
  type IsOlder,
  type PrecedenceVerdict,
} from './view-precedence.ts';
import { ViewCache, type CacheLimits, type CachedView, type ChangeListener } from './view-cache.ts';

export interface CacheCoherenceOptions {
  readonly levels: readonly string[];
  readonly committed: ReadonlySet<string>;
  readonly isOlder: IsOlder;
  readonly limits: CacheLimits;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly writeThrough: (operation: Operation, result: unknown) => CachedWrite | undefined;
  readonly isCacheable: (operation: Operation) => boolean;
  readonly touches: (operation: Operation) => readonly string[] | undefined;
  readonly getViewId: (owner: ViewOwner, operation: Operation) => string | undefined;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly onChange: ChangeListener;
  readonly onError: (error: unknown) => void;
}

/** The first time of a cache's own clock. It is before all of its operations. */
const FIRST_TIME = 1;

export class CacheCoherence {
  readonly #cache: ViewCache;
  readonly #options: CacheCoherenceOptions;
  readonly #invalidations: InvalidationLog;
  readonly #placement: ViewPlacement;
  readonly #reports: ViewReports;
  readonly #expiry: ExpiryTimer;
  /**
   * Whether a store may have unread invalidations of an earlier page. Then views that may lag are
   * not shown.
   */
  hasUnreadStore = false;
  #time = FIRST_TIME;
  /** Counts the principals whose views were cached. */
  principalEpoch = 0;
  #isStopped = false;

  constructor(options: CacheCoherenceOptions) {
    const { limits, clock, isOlder, onChange, onError } = options;
    this.#options = options;
    this.#cache = new ViewCache(limits, onChange);
    this.#invalidations = new InvalidationLog(limits.maxEntries);
    this.#reports = new ViewReports(onError);
    this.#expiry = new ExpiryTimer(clock, (nowMs) => this.#cache.deleteExpired(nowMs));
    this.#placement = new ViewPlacement({
      cache: this.#cache,
      expiry: this.#expiry,
      reports: this.#reports,
      maxEntries: limits.maxEntries,
      getRank: (level) => this.#getRank(level),
      isOlder,
    });
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return this.#cache.size;
  }

  has(id: string): boolean {
    return this.#cache.peek(id) !== undefined;
  }

  /** Returns the next time of the cache's own clock. */
  tick(): number {
    return ++this.#time;
  }

  /**
   * Returns a copy of the view to show for an operation, if there is one that its session may see.
   */
  find({ id, session }: CacheOperation): CacheEntry | undefined {
    const view = id === undefined ? undefined : this.#cache.peek(id);
    if (id === undefined || view === undefined) return undefined;
    if (view.expiresAtMs <= this.#options.clock.now()) {
      this.#cache.delete(id);
      return undefined;
    }
    const { entry, startedAt } = view;
    if (this.hasUnreadStore && !view.isStrongest) return undefined;
    if (
      session?.canShow({
        id,
        entry,
        startedAt,
        isStrongest: this.#isStrongest(entry.level),
      }) === false
    )
      return undefined;
    session?.learnView(entry.touches, this.#toSeenView(id, entry, startedAt), false);
    this.#cache.use(id);
    const { value, meta, version } = entry;
    const shown = {
      ...entry,
      value: copyPlainData(value).value,
      ...(meta && { meta: copyPlainData(meta).value }),
    };
    return typeof version === 'object' ? { ...shown, version: copyOrReuse(version) } : shown;
  }

  recordRead(subject: CacheOperation, view: InnerView): void {
    const { id, touches, startedAt, session, principalEpoch, principal } = subject;
    if (!this.#options.committed.has(view.level)) return;
    // The session has seen the view, even if the view is not cached. Other callers that requested
    // the same view meanwhile have seen it too.
    session?.learnView(
      touches,
      this.#toSeenView(id, { level: view.level, ...view.details }, startedAt),
      true,
    );
    if (id === undefined || !this.#isCurrentEpoch(principalEpoch)) return;
    const isStrongest = this.#isStrongest(view.level) || view.details.final === true;
    const current = this.#cache.peek(id);
    const next = this.#toCachedView(subject, view, { touches, isStrongest });
    const { orderedUntil } = subject;
    const invalidation = getStrongestInvalidation(
      this.#invalidations.findInvalidation(getTags(id, touches), {
        principal,
        startedAt,
        isStrongest,
      }),
      this.#placement.getUnorderedInvalidation(id, orderedUntil, isStrongest),
    );
    const latestLearnedAt = Math.max(current?.learnedAt ?? 0, this.#placement.getUnorderedTime(id));
    if (orderedUntil >= latestLearnedAt) subject.orderedUntil = next.learnedAt;
    this.#placement.place(id, next, {
      current,
      invalidation,
      startedAt: orderedUntil,
    });
  }

  /**
   * Handles a committed update. Its outcome can never change. Returns what the update has changed.
   */
  recordWrite(subject: CacheOperation, view: InnerView): Invalidation {
    const { touches, startedAt, principalEpoch, principal, owner, mayBeReplay } = subject;
    const change = {
      kind: 'write',
      scope: getScope(touches),
      principal,
    } as const;
    // A replayed answer does not show the present state of the object, because a newer update may
    // have been executed since.
    const isLatest = this.#isCurrentEpoch(principalEpoch) && !mayBeReplay;
    const write = isLatest ? this.#getTaggedWrite(subject, view.value) : undefined;
    const id = write && owner && this.#options.getViewId(owner, write.operation);
    const replaced = id === undefined ? undefined : this.#cache.peek(id);
    // If another update ended meanwhile, only versions show which of the two the store executed
    // last.
    const touched = [touches, write?.touches];
    const invalidation =
      id === undefined
        ? 'none'
        : getStrongestInvalidation(
            ...touched.map((item) => this.#getInvalidationSinceStart(subject, id, item)),
          );
    this.invalidate(change);
    this.#learnWrite(
      subject,
      this.#toSeenView(id, { level: view.level, ...view.details }, startedAt),
    );
    if (write === undefined || id === undefined) return change;
    const written = { touches: write.touches, isStrongest: true };
    const next = this.#toCachedView(subject, { ...view, value: write.value }, written);
    this.#placement.place(id, next, {
      current: replaced,
      invalidation,
      startedAt,
    });
    return change;
  }

  /**
   * Handles an update that ends for its caller at a weaker level. The earlier value is hidden.
   * Returns what is invalidated.
   */
  recordEarlyFinal(subject: CacheOperation): Invalidation {
    const { touches, startedAt, principal } = subject;
    const change = {
      kind: 'write',
      scope: getScope(touches),
      principal,
    } as const;
    const tags = getObjectTags(touches);
    const invalidation = this.#getChangeSince(startedAt, tags);
    this.invalidate(change);
    subject.earlyFinal = { at: this.#time, tags, invalidation };
    this.#learnWrite(subject, this.#toSeenView(undefined, { level: '' }, startedAt));
    return change;
  }

  /**
   * Handles a failed update. It may have been executed all the same, so overlapping reads are of
   * unknown age.
   */
  recordFailedWrite({ touches }: CacheOperation): void {
    this.#invalidations.record({ kind: 'drop', scope: getScope(touches) }, this.tick());
  }

  /** Hides the views from before a change that this page or another one made. */
  invalidate(change: Invalidation): void {
    this.#cache.deleteInScope(change.scope);
    this.#invalidations.record(change, this.tick());
  }

  /**
   * Takes over the updates of earlier pages. From now on only views of later reads are accepted
   * here too.
   */
  importInvalidations(invalidations: InvalidationLogData | undefined): void {
    if (invalidations !== undefined) this.#invalidations.importAuthors(invalidations);
    // The store has already compared its own views with these updates. The strongest views of this
    // page are later than any earlier page.
    const mayLag = ({ startedAt, isStrongest }: CachedView): boolean =>
      startedAt > BEFORE_LOCAL_TIME && !isStrongest;
    const isFenced = (
      id: string,
      { startedAt, isStrongest }: CachedView,
      tags: readonly string[],
    ): boolean =>
      this.#invalidations.findInvalidation(tags, {
        principal: getViewReader(id),
        startedAt,
        isStrongest,
      }) !== 'none';
    this.#cache.deleteWhere((id, view, tags) => mayLag(view) && isFenced(id, view, tags));
    this.hasUnreadStore = false;
  }

  /**
   * Empties the memory. Results of operations in flight are not cached any more. Called when the
   * principal changes, and when the cache is closed.
   */
  clear(): void {
    this.#cache.clear();
    this.principalEpoch += 1;
  }

  isFresh({ level, cachedAt }: CacheEntry): boolean {
    const ageMs = this.#options.now() - cachedAt;
    const { ttlMs, levels, committed } = this.#options;
    // A view from the future was cached before the clock was set back, so its age is unknown.
    return (
      levels.includes(level) &&
      committed.has(level) &&
      (ttlMs === Infinity || (ageMs >= 0 && ageMs < ttlMs))
    );
  }

  /**
   * Caches a view that a store had at `asOf`, as a view that is older than all views of this page.
   * Views that the page has learned since take precedence by the usual rule.
   */
  restore(id: string, entry: CacheEntry, asOf = FIRST_TIME): void {
    // The store does not know what has changed since.
    if (this.#getInvalidationSince(asOf, id, entry.touches) !== 'none') return;
    const { now, clock, ttlMs } = this.#options;
    const learnedAt = this.tick();
    const retained: CachedView = {
      entry,
      startedAt: BEFORE_LOCAL_TIME - learnedAt,
      learnedAt,
      knownTransaction: { seq: entry.stamp?.seq ?? 0 },
      isStrongest: false,
      isDurable: true,
      expiresAtMs: clock.now() + ttlMs - (now() - entry.cachedAt),
    };
    this.#placement.restore(id, retained, this.#cache.peek(id));
  }

  /** Applies the rule in a transaction of the store, whose times are numbers of transactions. */
  decidePrecedence(
    view: CachedView,
    startedAt: number,
    current: CacheEntry | undefined,
    invalidation: InvalidationKind,
  ): PrecedenceVerdict {
    const next = { ...view, startedAt, learnedAt: Infinity };
    const there = current && {
      entry: current,
      startedAt: BEFORE_LOCAL_TIME,
      learnedAt: current.stamp?.seq ?? 0,
    };
    return this.#placement.compare(next, there, invalidation);
  }

  /** Reports that the store rejected a view, once for each operation name. */
  reportRejectedView(id: string, cause: unknown): void {
    this.#reports.reportRejection(id, cause);
  }

  /** Stops the timer, and caches nothing from now on. */
  stop(): void {
    this.#isStopped = true;
    this.#expiry.stop();
    this.clear();
  }

  /**
   * Returns the read that an update determines. If a function of the application throws, the views
   * are dropped instead: the store has just answered, and that must not fail.
   */
  #getTaggedWrite(
    { operation, operationCopy, copyError, owner }: CacheOperation,
    result: unknown,
  ): TaggedWrite | undefined {
    const { writeThrough, isCacheable, touches, getViewId, onError } = this.#options;
    try {
      // The caller has changed the arguments since. A remote store has never seen the change, but a
      // store in this process may have.
      if (operationCopy !== undefined && !structurallyEqual(operationCopy.args, operation.args))
        return undefined;
      const write = writeThrough(operationCopy ?? operation, result);
      if (write === undefined || !isCacheable(write.operation)) return undefined;
      if (operationCopy !== undefined) return { ...write, touches: touches(write.operation) };
      const id = owner && getViewId(owner, write.operation);
      if (id !== undefined) this.#reports.reportCopyError(id, copyError);
    } catch (error) {
      onError(error);
    }
    return undefined;
  }

  #toCachedView(
    { startedAt, knownTransaction }: CacheOperation,
    { value, level, details }: InnerView,
    {
      touches,
      isStrongest,
    }: {
      readonly touches: readonly string[] | undefined;
      readonly isStrongest: boolean;
    },
  ): CachedView {
    const { version, meta } = details;
    const { now, clock, ttlMs } = this.#options;
    const known = {
      ...(version !== undefined && { version }),
      ...(meta !== undefined && { meta }),
    };
    const entry = { value, level, ...known, cachedAt: now(), touches };
    const expiresAtMs = clock.now() + ttlMs;
    return {
      entry,
      startedAt,
      learnedAt: this.tick(),
      knownTransaction,
      isStrongest,
      isDurable: true,
      expiresAtMs,
    };
  }

  /**
   * Returns whether a strongest view may have changed since `began`, or whether a view was shown
   * since that cannot be ordered with it.
   */
  #getInvalidationSince(
    began: number,
    id: string,
    touches: readonly string[] | undefined,
  ): InvalidationKind {
    return getStrongestInvalidation(
      this.#getChangeSince(began, getTags(id, touches)),
      this.#placement.getUnorderedInvalidation(id, began, true),
    );
  }

  /**
   * Works like `#getInvalidationSince` for an update, but leaves out what its own early final has
   * invalidated.
   */
  #getInvalidationSinceStart(
    { startedAt, earlyFinal }: CacheOperation,
    id: string,
    touches: readonly string[] | undefined,
  ): InvalidationKind {
    if (earlyFinal === undefined) return this.#getInvalidationSince(startedAt, id, touches);
    const tags = getTags(id, touches);
    const promised = tags.filter((mark) => earlyFinal.tags.includes(mark));
    const others = tags.filter((mark) => !earlyFinal.tags.includes(mark));
    return getStrongestInvalidation(
      earlyFinal.invalidation,
      this.#getChangeSince(earlyFinal.at, promised),
      this.#getChangeSince(startedAt, others),
      this.#placement.getUnorderedInvalidation(id, startedAt, true),
    );
  }

  /**
   * Returns the changes since a read at the strongest level. The principal of the reader makes no
   * difference.
   */
  #getChangeSince(startedAt: number, tags: readonly string[]): InvalidationKind {
    return this.#invalidations.findInvalidation(tags, {
      principal: '',
      startedAt,
      isStrongest: true,
    });
  }

  /**
   * Adds a write to the session. A replayed write may be older than what the session knows, so it
   * shows nothing about the present state of the object.
   */
  #learnWrite({ session, touches, mayBeReplay }: CacheOperation, seen: SeenView): void {
    if (mayBeReplay) session?.learnReplay(touches, seen.learnedAt);
    else session?.learnWrite(touches, seen);
  }

  #isCurrentEpoch(epoch: number): boolean {
    return epoch === this.principalEpoch && !this.#isStopped;
  }

  #toSeenView(
    id: string | undefined,
    { level, version }: { readonly level: string; readonly version?: unknown },
    startedAt: number,
  ): SeenView {
    return {
      id,
      version,
      startedAt,
      isStrongest: this.#isStrongest(level),
      learnedAt: this.tick(),
    };
  }

  #isStrongest(level: string): boolean {
    return this.#getRank(level) === this.#options.levels.length - 1;
  }

  #getRank(level: string): number {
    return this.#options.levels.indexOf(level);
  }
}

/** The read that an update determines, with the objects that this read depends on. */
interface TaggedWrite extends CachedWrite {
  readonly touches: readonly string[] | undefined;
}
