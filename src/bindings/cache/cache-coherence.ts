/**
 * The rules of coherence (OSDI 2016, §5.2; docs/spec/cache.md): which views
 * enter the cache, and what leaves it.
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import type { Clock } from '../../correctable/clock.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import {
  copyPlainData,
  NotPlainDataError,
  copyOrReuse,
} from '../../values/deep-copy.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import {
  InvalidationLog,
  type Invalidation,
  type InvalidationLogData,
} from './invalidation-log.ts';
import {
  getViewOperationName,
  getViewReader,
  type ViewOwner,
} from './cache-key.ts';
import type { CachedWrite } from './options.ts';
import { getTags, getObjectTags, getViewTag, getScope } from './tags.ts';
import type { CacheSession, SessionFloor } from './cache-session.ts';
import type { CacheEntry } from './cache-store.ts';
import {
  BEFORE_LOCAL_TIME,
  getStrongestInvalidation,
  comparePrecedence,
  type InvalidationKind,
  type IsOlder,
  type ViewRecency,
  type SuccessorView,
  type PrecedenceVerdict,
} from './view-precedence.ts';
import { TagTimestamps } from './tag-timestamps.ts';
import type { KnownTransaction } from './transaction-log.ts';
import {
  ViewCache,
  type CacheLimits,
  type CachedView,
  type ChangeListener,
} from './view-cache.ts';

export interface CacheOperation {
  readonly operation: Operation;
  /**
   * An update as it was asked for, with arguments of its own; where these
   * cannot be copied, why not.
   */
  readonly operationCopy?: Operation | undefined;
  readonly copyError?: unknown;
  /** Who submits it: the caller or, without one, the principal of the cache. */
  readonly principal: string;
  /** Whose its view is; `undefined` if nothing tells, so that none is kept. */
  readonly owner: ViewOwner | undefined;
  /**
   * Counts the principals: what was in flight for a former one is not filed.
   */
  readonly principalEpoch: number;
  /**
   * What its view is filed under; `undefined` for an operation whose views are
   * not cached.
   */
  readonly id: string | undefined;
  readonly touches: readonly string[] | undefined;
  /** When it began, in the cache's own counting. */
  readonly startedAt: number;
  /** What was known of the store's transactions then. */
  readonly knownTransaction: KnownTransaction;
  readonly session: CacheSession | undefined;
  /**
   * Whether the store behind may answer with the outcome of an earlier
   * submission. Then an update may have been executed long before it began
   * here, with others since.
   */
  readonly mayBeReplay: boolean;
  /**
   * Until when all that was learnt of its view is surely no newer than what is
   * still to come of it.
   */
  orderedUntil: number;
  /**
   * Present if the caller of an update got its final view at a weaker level.
   */
  earlyFinal?: EarlyFinal;
}

/** What is known of an update that was promised. */
interface EarlyFinal {
  readonly at: number;
  readonly tags: readonly string[];
  /**
   * Whether something else had changed that by then, since the update began.
   */
  readonly invalidation: InvalidationKind;
}

export interface InnerView {
  readonly value: unknown;
  readonly level: string;
  readonly details: ViewDetails;
}

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

/** Operations with more names than this are not reported one by one. */
const MAX_REPORTED_NAMES = 1_000;

export class CacheCoherence {
  readonly #cache: ViewCache;
  readonly #options: CacheCoherenceOptions;
  readonly #invalidations: InvalidationLog;
  /**
   * Of views that nothing tells apart by age: only what surely is newer than
   * all of them is let in.
   */
  readonly #unorderedViews: TagTimestamps;
  readonly #expiry: ExpiryTimer;
  readonly #reportedNames = new Set<string>();
  readonly #reportedRejections = new Set<string>();
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
    const { limits, clock, onChange } = options;
    this.#options = options;
    this.#cache = new ViewCache(limits, onChange);
    this.#invalidations = new InvalidationLog(limits.maxEntries);
    this.#unorderedViews = new TagTimestamps(limits.maxEntries);
    this.#expiry = new ExpiryTimer(clock, (nowMs) =>
      this.#cache.deleteExpired(nowMs),
    );
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
      this.#getUnorderedInvalidation(id, orderedUntil, isStrongest),
    );
    const learntAt = Math.max(
      current?.learnedAt ?? 0,
      this.#unorderedViews.getLatestTime([getViewTag(id)]),
    );
    if (orderedUntil >= learntAt) subject.orderedUntil = next.learnedAt;
    this.#storeView(id, next, {
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
    this.#storeView(id, next, { current: replaced, invalidation, startedAt });
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
    const learnt = this.#cache.peek(id);
    const verdict =
      learnt === undefined
        ? 'keep'
        : this.#comparePrecedence(
            learnt,
            { ...retained, learnedAt: BEFORE_LOCAL_TIME },
            'none',
          );
    if (verdict === 'neither') this.#markUnordered(id, retained);
    else if (verdict === 'keep') this.#put(id, retained);
    else if (verdict === 'same' && learnt !== undefined)
      this.#put(id, this.#mergeViews(learnt, retained));
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
    return this.#comparePrecedence(next, there, fence);
  }

  /** The store takes no view like this one. */
  reportRejectedView(id: string, cause: unknown): void {
    // A value that fits nowhere says nothing of a store that is full.
    this.#reportOncePerName(
      id,
      'a view is kept in memory alone: its store has not taken it',
      undefined,
      cause,
      this.#reportedRejections,
    );
  }

  /** Lets time pass without it, and files nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#expiry.stop();
    this.clear();
  }

  /**
   * Files `next` where the rule lets it in; what may be the older one of two is
   * not kept.
   */
  #storeView(
    id: string,
    next: CachedView,
    { current, invalidation, startedAt }: PlacementContext,
  ): void {
    const verdict = this.#comparePrecedence(
      { ...next, startedAt },
      current,
      invalidation,
    );
    if (verdict === 'neither') this.#markUnordered(id, next);
    else if (verdict === 'keep' && current !== undefined)
      this.#putIfAbsent(id, current);
    else
      this.#put(
        id,
        verdict === 'same' && current !== undefined
          ? this.#mergeViews(next, current)
          : next,
      );
  }

  #comparePrecedence(
    next: TimedView & Pick<CachedView, 'isStrongest'>,
    current: TimedView | undefined,
    fence: InvalidationKind,
  ): PrecedenceVerdict {
    const successor: SuccessorView = {
      ...this.#toRecency(next),
      isStrongest: next.isStrongest,
    };
    return comparePrecedence(
      successor,
      current && this.#toRecency(current),
      fence,
      this.#options.isOlder,
    );
  }

  #toRecency({
    entry: { value, version, level },
    startedAt,
    learnedAt,
  }: TimedView): ViewRecency {
    return { value, version, rank: this.#getRank(level), startedAt, learnedAt };
  }

  /** One view, given twice: the stronger of the two, as of the later time. */
  #mergeViews(next: CachedView, current: CachedView): CachedView {
    const { learnedAt, expiresAtMs, entry } = next;
    const ranks =
      this.#getRank(entry.level) - this.#getRank(current.entry.level);
    if (ranks < 0)
      return {
        ...current,
        entry: { ...current.entry, cachedAt: entry.cachedAt },
        learnedAt,
        expiresAtMs,
      };
    return ranks > 0
      ? next
      : { ...next, startedAt: Math.max(next.startedAt, current.startedAt) };
  }

  /**
   * From now on only what surely is newer than all that was shown until now.
   */
  #markUnordered(id: string, { learnedAt }: CachedView): void {
    this.#cache.delete(id);
    this.#unorderedViews.record([getViewTag(id)], learnedAt);
  }

  #getUnorderedInvalidation(
    id: string,
    began: number,
    isStrongest: boolean,
  ): InvalidationKind {
    const contestedAt = this.#unorderedViews.getLatestTime([getViewTag(id)]);
    return contestedAt > 0 && !(isStrongest && began >= contestedAt)
      ? 'write'
      : 'none';
  }

  #putIfAbsent(id: string, current: CachedView): void {
    if (this.#cache.peek(id) === undefined) this.#cache.put(id, current);
  }

  #put(id: string, view: CachedView): void {
    try {
      // The application may change the object that it was given: the cache
      // keeps a copy of its own.
      const value = copyPlainData(view.entry.value);
      const meta = copyPlainData(view.entry.meta, 'meta');
      const version = this.#findLossyVersionPath(view.entry);
      const entry = {
        ...view.entry,
        value: value.value,
        ...(meta.value && { meta: meta.value }),
      };
      const fadesAt = value.lossyPath ?? meta.lossyPath ?? version;
      if (fadesAt !== undefined)
        this.#reportOncePerName(
          id,
          `${fadesAt} is kept in memory alone: stores give back plain data`,
          fadesAt,
        );
      this.#cache.put(id, { ...view, entry, isDurable: fadesAt === undefined });
      this.#expiry.scheduleSweep(view.expiresAtMs);
    } catch (cause) {
      this.#markUnordered(id, view);
      this.#reportCopyError(id, cause);
    }
  }

  #reportCopyError(id: string, cause: unknown): void {
    const path = cause instanceof NotPlainDataError ? cause.path : undefined;
    const description =
      cause instanceof NotPlainDataError
        ? cause.message
        : 'the value cannot be copied';
    this.#reportOncePerName(
      id,
      `${description}, thus not kept: give plain data, or exclude the operation by 'isCacheable'`,
      path,
      cause,
    );
  }

  /**
   * Where in the version something stands that a store would change: it is kept
   * as it is, for the binding to compare.
   */
  #findLossyVersionPath({ version }: CacheEntry): string | undefined {
    try {
      return copyPlainData(version, 'version').lossyPath;
    } catch (error) {
      return error instanceof NotPlainDataError ? error.path : 'version';
    }
  }

  #reportOncePerName(
    id: string,
    description: string,
    field: string | undefined,
    cause?: unknown,
    reported = this.#reportedNames,
  ): void {
    const name = getViewOperationName(id);
    if (reported.has(name) || reported.size > MAX_REPORTED_NAMES) return;
    reported.add(name);
    this.#options.onError(
      new CorrectableError(
        'INVALID_VALUE',
        `cache: of '${name}', ${description}`,
        {
          field,
          cause,
        },
      ),
    );
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
      if (id !== undefined) this.#reportCopyError(id, copyError);
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
      this.#getUnorderedInvalidation(id, began, true),
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
      this.#getUnorderedInvalidation(id, startedAt, true),
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

interface PlacementContext {
  readonly current: CachedView | undefined;
  readonly invalidation: InvalidationKind;
  /** For the rule: what was learnt until then is no newer. */
  readonly startedAt: number;
}

type TimedView = Pick<CachedView, 'entry' | 'startedAt' | 'learnedAt'>;

/** The read that an update has decided, with what that read depends on. */
interface TaggedWrite extends CachedWrite {
  readonly touches: readonly string[] | undefined;
}
