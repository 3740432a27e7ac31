/**
 * The rules of coherence (OSDI 2016, §5.2; docs/spec/cache.md): which views
 * enter the cache, and what leaves it.
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
import type { SessionFloor } from './cache-session.ts';
import type { CacheEntry } from './cache-store.ts';
import {
  BEFORE_LOCAL_TIME,
  getStrongestInvalidation,
  type InvalidationKind,
  type IsOlder,
  type PrecedenceVerdict,
} from './view-precedence.ts';
import {
  ViewCache,
  type CacheLimits,
  type CachedView,
  type ChangeListener,
} from './view-cache.ts';

export interface CacheCoherenceOptions {
  readonly levels: readonly string[];
  readonly committed: ReadonlySet<string>;
  readonly isOlder: IsOlder;
  readonly limits: CacheLimits;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly writeThrough: (
    operation: Operation,
    result: unknown,
  ) => CachedWrite | undefined;
  readonly isCacheable: (operation: Operation) => boolean;
  readonly touches: (operation: Operation) => readonly string[] | undefined;
  readonly getViewId: (
    owner: ViewOwner,
    operation: Operation,
  ) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onChange: ChangeListener;
  readonly onError: (error: unknown) => void;
}

/**
 * The first moment in the counting of a cache: before all of its operations.
 */
const FIRST_TIME = 1;

export class CacheCoherence {
  readonly #cache: ViewCache;
  readonly #options: CacheCoherenceOptions;
  readonly #invalidations: InvalidationLog;
  readonly #placement: ViewPlacement;
  readonly #reports: ViewReports;
  readonly #expiry: ExpiryTimer;
  /**
   * Whether a store may have unread fences of an earlier page: then views that
   * may lag are not shown.
   */
  hasUnreadStore = false;
  #time = FIRST_TIME;
  /** Which principal it is whose views are filed, counted. */
  principalEpoch = 0;
  #isStopped = false;

  constructor(options: CacheCoherenceOptions) {
    const { limits, clock, isOlder, onChange, onError } = options;
    this.#options = options;
    this.#cache = new ViewCache(limits, onChange);
    this.#invalidations = new InvalidationLog(limits.maxEntries);
    this.#reports = new ViewReports(onError);
    this.#expiry = new ExpiryTimer(clock, (nowMs) =>
      this.#cache.deleteExpired(nowMs),
    );
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

  /** The next moment in the cache's own counting. */
  tick(): number {
    return ++this.#time;
  }

  /**
   * The view to show for `subject`, a copy, if there is one that its session
   * may see.
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
    session?.learnView(
      entry.touches,
      this.#toFloor(id, entry, startedAt),
      false,
    );
    this.#cache.use(id);
    const { value, meta, version } = entry;
    const shown = {
      ...entry,
      value: copyPlainData(value).value,
      ...(meta && { meta: copyPlainData(meta).value }),
    };
    return typeof version === 'object'
      ? { ...shown, version: copyOrReuse(version) }
      : shown;
  }

  recordRead(subject: CacheOperation, view: InnerView): void {
    const { id, touches, startedAt, session, principalEpoch, principal } =
      subject;
    if (!this.#options.committed.has(view.level)) return;
    // The session has seen it, whether it is filed or not. So have callers that
    // requested it meanwhile.
    session?.learnView(
      touches,
      this.#toFloor(id, { level: view.level, ...view.details }, startedAt),
      true,
    );
    if (id === undefined || !this.#isCurrentEpoch(principalEpoch)) return;
    const isStrongest =
      this.#isStrongest(view.level) || view.details.final === true;
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
    const learntAt = Math.max(
      current?.learnedAt ?? 0,
      this.#placement.getUnorderedTime(id),
    );
    if (orderedUntil >= learntAt) subject.orderedUntil = next.learnedAt;
    this.#placement.place(id, next, {
      current,
      invalidation,
      startedAt: orderedUntil,
    });
  }

  /**
   * An update was committed: its outcome can never change. Says what it has
   * changed.
   */
  recordWrite(subject: CacheOperation, view: InnerView): Invalidation {
    const {
      touches,
      startedAt,
      principalEpoch,
      principal,
      owner,
      mayBeReplay,
    } = subject;
    const change = {
      kind: 'write',
      scope: getScope(touches),
      principal,
    } as const;
    // A replayed answer does not say what the object is now: a newer update may
    // have been answered.
    const isLatest = this.#isCurrentEpoch(principalEpoch) && !mayBeReplay;
    const write = isLatest
      ? this.#getTaggedWrite(subject, view.value)
      : undefined;
    const id =
      write && owner && this.#options.getViewId(owner, write.operation);
    const replaced = id === undefined ? undefined : this.#cache.peek(id);
    // Where another update ended in the meantime, only versions tell which of
    // the two the store executed last.
    const touched = [touches, write?.touches];
    const invalidation =
      id === undefined
        ? 'none'
        : getStrongestInvalidation(
            ...touched.map((item) =>
              this.#getInvalidationSinceStart(subject, id, item),
            ),
          );
    this.invalidate(change);
    this.#learnWrite(
      subject,
      this.#toFloor(id, { level: view.level, ...view.details }, startedAt),
    );
    if (write === undefined || id === undefined) return change;
    const written = { touches: write.touches, isStrongest: true };
    const next = this.#toCachedView(
      subject,
      { ...view, value: write.value },
      written,
    );
    this.#placement.place(id, next, {
      current: replaced,
      invalidation,
      startedAt,
    });
    return change;
  }

  /**
   * An update ends for its caller at a weaker level: the value from before is
   * hidden. Returns what is invalidated.
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
    this.#learnWrite(
      subject,
      this.#toFloor(undefined, { level: '' }, startedAt),
    );
    return change;
  }

  /**
   * An update failed. It may have been executed all the same, so that nothing
   * is known of reads that overlapped it.
   */
  recordFailedWrite({ touches }: CacheOperation): void {
    this.#invalidations.record(
      { kind: 'drop', scope: getScope(touches) },
      this.tick(),
    );
  }

  /**
   * What was changed, here or by another page, is not to be shown any more as
   * it was before.
   */
  invalidate(change: Invalidation): void {
    this.#cache.deleteInScope(change.scope);
    this.#invalidations.record(change, this.tick());
  }

  /**
   * What the pages before have updated: here too, only what is executed since
   * is let in.
   */
  importInvalidations(fences: InvalidationLogData | undefined): void {
    if (fences !== undefined) this.#invalidations.importAuthors(fences);
    // What the store kept has been judged by them there; the strongest views of
    // this page are later than any page before.
    const mayLag = ({ startedAt, isStrongest }: CachedView): boolean =>
      startedAt > BEFORE_LOCAL_TIME && !isStrongest;
    const isFenced = (
      id: string,
      { startedAt, isStrongest }: CachedView,
      marks: readonly string[],
    ): boolean =>
      this.#invalidations.findInvalidation(marks, {
        principal: getViewReader(id),
        startedAt,
        isStrongest,
      }) !== 'none';
    this.#cache.deleteWhere(
      (id, view, marks) => mayLag(view) && isFenced(id, view, marks),
    );
    this.hasUnreadStore = false;
  }

  /**
   * Memory is empty, and stays so of what is in flight: for another principal,
   * or at the end.
   */
  clear(): void {
    this.#cache.clear();
    this.principalEpoch += 1;
  }

  isFresh({ level, cachedAt }: CacheEntry): boolean {
    const ageMs = this.#options.now() - cachedAt;
    const { ttlMs, levels, committed } = this.#options;
    // One from the future was written before the clock was set back: its age is
    // unknown.
    return (
      levels.includes(level) &&
      committed.has(level) &&
      (ttlMs === Infinity || (ageMs >= 0 && ageMs < ttlMs))
    );
  }

  /**
   * Takes over what a store had as of `asOf`, as if from before this page: what
   * the page has learnt since decides.
   */
  restore(id: string, entry: CacheEntry, asOf = FIRST_TIME): void {
    // Of what has changed since, it knows nothing.
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

  /**
   * The rule in the store's transaction: its times are numbers of transactions.
   */
  decidePrecedence(
    view: CachedView,
    startedAt: number,
    current: CacheEntry | undefined,
    fence: InvalidationKind,
  ): PrecedenceVerdict {
    const next = { ...view, startedAt, learnedAt: Infinity };
    const there = current && {
      entry: current,
      startedAt: BEFORE_LOCAL_TIME,
      learnedAt: current.stamp?.seq ?? 0,
    };
    return this.#placement.compare(next, there, fence);
  }

  /** Reports that the store rejected a view, once for each operation name. */
  reportRejectedView(id: string, cause: unknown): void {
    this.#reports.reportRejection(id, cause);
  }

  /** Lets time pass without it, and files nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#expiry.stop();
    this.clear();
  }

  /**
   * The application's functions must not disturb the store that has just
   * answered: without them, views are dropped.
   */
  #getTaggedWrite(
    { operation, operationCopy, copyError, owner }: CacheOperation,
    result: unknown,
  ): TaggedWrite | undefined {
    const { writeThrough, isCacheable, touches, getViewId, onError } =
      this.#options;
    try {
      // What its caller has made of them since a store far away has never seen,
      // and one in the process may have.
      if (
        operationCopy !== undefined &&
        !structurallyEqual(operationCopy.args, operation.args)
      )
        return undefined;
      const write = writeThrough(operationCopy ?? operation, result);
      if (write === undefined || !isCacheable(write.operation))
        return undefined;
      if (operationCopy !== undefined)
        return { ...write, touches: touches(write.operation) };
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
   * Whether something of a strongest view has changed since, or was shown that
   * nothing tells apart from it.
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

  /** The same since an update began, what was promised of it left out. */
  #getInvalidationSinceStart(
    { startedAt, earlyFinal }: CacheOperation,
    id: string,
    touches: readonly string[] | undefined,
  ): InvalidationKind {
    if (earlyFinal === undefined)
      return this.#getInvalidationSince(startedAt, id, touches);
    const marks = getTags(id, touches);
    const promised = marks.filter((mark) => earlyFinal.tags.includes(mark));
    const others = marks.filter((mark) => !earlyFinal.tags.includes(mark));
    return getStrongestInvalidation(
      earlyFinal.invalidation,
      this.#getChangeSince(earlyFinal.at, promised),
      this.#getChangeSince(startedAt, others),
      this.#placement.getUnorderedInvalidation(id, startedAt, true),
    );
  }

  /** Of what was read at the strongest level: whose it is does not matter. */
  #getChangeSince(
    startedAt: number,
    marks: readonly string[],
  ): InvalidationKind {
    return this.#invalidations.findInvalidation(marks, {
      principal: '',
      startedAt,
      isStrongest: true,
    });
  }

  /**
   * A replay may be older than what the session knows, so it tells nothing of
   * the object.
   */
  #learnWrite(
    { session, touches, mayBeReplay }: CacheOperation,
    floor: SessionFloor,
  ): void {
    if (mayBeReplay) session?.learnReplay(touches, floor.learnedAt);
    else session?.learnWrite(touches, floor);
  }

  #isCurrentEpoch(reign: number): boolean {
    return reign === this.principalEpoch && !this.#isStopped;
  }

  #toFloor(
    id: string | undefined,
    { level, version }: Pick<CacheEntry, 'level' | 'version'>,
    startedAt: number,
  ): SessionFloor {
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

/** The read that an update has decided, with what that read depends on. */
interface TaggedWrite extends CachedWrite {
  readonly touches: readonly string[] | undefined;
}
