/**
 * Reads a cache's store, then writes the changes in the background: in order,
 * one call at a time, with retries.
 */
import { exponentialBackoff } from '../../../correctable/backoff.ts';
import type { Clock, Timer } from '../../../correctable/clock.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { isViewId } from '../cache-key.ts';
import type { Invalidation, InvalidationLogData } from '../invalidation-log.ts';
import {
  INVALIDATE_ALL,
  ANY_WRITE,
  UnsavedChanges,
} from './unsaved-changes.ts';
import type { TagScope } from '../tags.ts';
import {
  isStoreTimeout,
  createStoreTimeoutError,
  createUnwrittenError,
  createStoreRejectedError,
  STORE_TIMEOUT_MS,
  type StoreCall,
} from './store-errors.ts';
import {
  isCacheEntry,
  type CacheSubscription,
  type CacheEntry,
  type CacheStore,
  type Transact,
} from '../cache-store.ts';
import {
  getCounter,
  type StoreMoment,
  type KnownTransaction,
  type TransactionLog,
} from './transaction-log.ts';
import {
  StoreLedger,
  LEDGER_ID,
  runTransaction,
  removeViews,
  type WriteBatch,
  type PrecedenceRule,
  type WrittenChanges,
} from './store-transaction.ts';
import type { CachedView } from '../view-cache.ts';

const backoff = exponentialBackoff({
  initialDelayMs: 1_000,
  maxDelayMs: 30_000,
});

export interface PersistenceOptions {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly decidePrecedence: PrecedenceRule;
  readonly maxTags: number;
  /**
   * About as much is held of what the store has not taken yet of users who have
   * left.
   */
  readonly maxBytes: number;
  readonly isKnown: (id: string) => boolean;
  readonly isOfCurrentPrincipal: (id: string) => boolean;
  /**
   * The store has not taken a view, and has taken what else was to be written.
   */
  readonly onRejected: (id: string, cause: unknown) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onInvalidation: (change: Invalidation) => void;
  /**
   * The cache's own moment; asked when a reading begins where nothing waits to
   * be written, so that the store has it all.
   */
  readonly tick: () => number;
  /**
   * The store was read as of `asOf` (default: before everything). Called before
   * anything is written.
   */
  readonly onRead: (stored: StoredEntries, asOf: number | undefined) => void;
}

export type StoredEntries = readonly (readonly [
  id: string,
  entry: CacheEntry,
])[];

/** What a cache tells the others on its store after each transaction. */
interface BroadcastMessage {
  readonly seq: number;
  readonly changes: readonly Invalidation[];
}

export class Persistence {
  readonly #options: PersistenceOptions;
  readonly #countCall: ReturnType<typeof getCounter>;
  /** Unique to this cache: it identifies the owner of views in the store. */
  #cacheId = createCacheId();
  readonly #hangingCalls = new Set<StoreCall>();
  /** Since when a caller waits for a call that has not ended. */
  readonly #waitedSinceMs = new Map<StoreCall, number>();
  #subscription: CacheSubscription | undefined;
  /** As it was last read or written. */
  #ledger: StoreLedger;
  /** The last transaction heard of, or had. */
  #lastSeenSeq = 0;
  /**
   * The store's last transactions as it was first read, and when that was: of
   * what began before.
   */
  #firstRead:
    | { readonly log: TransactionLog; readonly read: StoreMoment }
    | undefined;
  /** Whether the memory has had what is stored: nothing is written before. */
  #hasRead = false;
  #pending: UnsavedChanges;
  /**
   * What the last batch was refused with, if it was: one that is collected, on
   * its way, or done.
   */
  #lastBatch: Promise<CorrectableError | undefined> =
    Promise.resolve(undefined);
  #isCollecting = false;
  /** One that has not begun. */
  #nextRead: Promise<void> | undefined;
  #storeCallQueue: Promise<unknown> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;
  /** Of who clears or closes. */
  #exclusiveQueue: Promise<void> = Promise.resolve();
  #failureCount = 0;
  #retryTimer: Timer | undefined;

  constructor(options: PersistenceOptions) {
    this.#options = options;
    this.#pending = new UnsavedChanges(options.isKnown);
    this.#countCall = getCounter(options.store);
    this.#ledger = StoreLedger.fromEntry(undefined, options.maxTags);
    this.#subscribe();
  }

  /**
   * What is known at present of the store's transactions: for an operation that
   * begins.
   */
  getKnownTransaction(): KnownTransaction {
    return {
      seq: this.#lastSeenSeq,
      ...(this.#firstRead === undefined && { at: this.#createMoment() }),
    };
  }

  /** What the pages on the store have changed, as far as this one knows. */
  get invalidationData(): InvalidationLogData {
    return this.#ledger.invalidations.data;
  }

  /**
   * Reads the store after the calls in flight, once for all callers until it
   * begins. Throws what the store throws.
   */
  read(): Promise<void> {
    this.#nextRead ??= this.#enqueueStoreCall(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
  }

  /** What was to be filed under `id` is not, after all. */
  removeView(id: string): void {
    this.#pending.views.delete(id);
  }

  /**
   * The memory is empty: it knows no more of what this page has written than of
   * what others have.
   */
  clear(): void {
    this.#cacheId = createCacheId();
    this.#discardUncompared();
    // Data that a store rejects are not held for users that have left.
    if (this.#failureCount > 0 || this.#hangingCalls.has('write'))
      this.#pending.removeChosen(() => true);
    this.#pending.limitBytes(this.#options.maxBytes);
    this.#hasRead = false;
  }

  writeView(id: string, view: CachedView | undefined): void {
    this.#pending.setView(id, view);
    // A store that refuses is tried again in its own time: each try looks at
    // all that waits.
    if (view === undefined || this.#failureCount === 0) this.#scheduleWrite();
  }

  /**
   * Views that were read before the change are not found any more, whichever
   * client wrote them.
   */
  invalidate(change: Invalidation): void {
    this.#pending.add(change);
    this.#scheduleWrite();
  }

  /**
   * Resolves when earlier changes are in the store. Throws `UNAVAILABLE` after
   * `limitMs`, at once if the store hangs.
   */
  async waitUntilWritten(limitMs: number = STORE_TIMEOUT_MS): Promise<void> {
    if (!this.#pending.isEmpty) this.#scheduleWrite();
    const rejection = await this.limitTime('write', this.#lastBatch, limitMs);
    if (rejection !== undefined) throw rejection;
  }

  /**
   * Invalidates `scope` and removes the chosen ids, of other pages too. Throws
   * `UNAVAILABLE` if the store fails.
   */
  invalidateScope(
    scope: TagScope,
    isChosen?: (id: string) => boolean,
  ): Promise<void> {
    return this.#runExclusive(() =>
      this.#invalidateScope({ kind: 'drop', scope }, isChosen),
    );
  }

  /**
   * Works as `invalidate`, after `close()`. Throws `UNAVAILABLE` if the store
   * fails.
   */
  invalidateAfterClose(change: Invalidation): Promise<void> {
    return this.#runExclusive(() => this.#invalidateScope(change));
  }

  /**
   * Writes what is left, once more where the store has refused it, and closes
   * the store.
   */
  close(): Promise<void> {
    return this.#runExclusive(() => this.#close());
  }

  async #invalidateScope(
    change: Invalidation,
    isChosen?: (id: string) => boolean,
  ): Promise<void> {
    const wasClosed = this.#isClosed;
    this.#isClosed = false;
    this.#subscribe();
    try {
      this.invalidate(change);
      await this.waitUntilWritten();
      if (isChosen === undefined) return;
      for (const id of await this.#loadStoredIds())
        if (id !== LEDGER_ID && isChosen(id)) this.writeView(id, undefined);
      await this.waitUntilWritten();
    } finally {
      if (wasClosed) await this.#close();
    }
  }

  async #close(): Promise<void> {
    this.#discardUncompared();
    const isUnderWay = this.#pending.isEmpty;
    const { store, onError } = this.#options;
    try {
      await this.waitUntilWritten().catch((rejection: unknown) => {
        if (isUnderWay && !this.#pending.isEmpty)
          return this.waitUntilWritten();
        throw rejection;
      });
    } catch (error) {
      // What the store has refused was reported then.
      if (isStoreTimeout(error)) onError(createUnwrittenError(error));
    }
    this.#isClosed = true;
    this.#retryTimer?.cancel();
    const connection = this.#subscription;
    this.#subscription = undefined;
    // A caller that signs out then clears: a store that cannot be closed must
    // not prevent that.
    this.#catchErrors(() => connection?.close());
    await this.limitTime(
      'close',
      runAsync(() => store.close()),
    ).catch(onError);
  }

  /**
   * Waits for the store. Throws `UNAVAILABLE` after `limitMs`, at once if such
   * a call is known to hang.
   */
  limitTime<T>(
    call: StoreCall,
    work: Promise<T>,
    limitMs: number = STORE_TIMEOUT_MS,
  ): Promise<T> {
    if (this.#hangingCalls.has(call)) {
      // The result of the call is not needed any more.
      work.catch(() => {});
      return Promise.reject(createStoreTimeoutError(call));
    }
    return new Promise((resolve, reject) => {
      const { clock } = this.#options;
      const sinceMs = this.#waitedSinceMs.get(call) ?? clock.now();
      this.#waitedSinceMs.set(call, sinceMs);
      const onTime = (): void => {
        // Many may have waited for the same call, each for less.
        if (clock.now() - sinceMs >= STORE_TIMEOUT_MS)
          this.#hangingCalls.add(call);
        reject(createStoreTimeoutError(call));
      };
      const timer = clock.setTimer(onTime, limitMs);
      const end = (): void => {
        timer.cancel();
        this.#hangingCalls.delete(call);
        this.#waitedSinceMs.delete(call);
      };
      work.finally(end).then(resolve, reject);
    });
  }

  /**
   * Runs `act` after earlier ones, so that a store is not closed while another
   * call clears it.
   */
  #runExclusive(act: () => Promise<void>): Promise<void> {
    const done = this.#exclusiveQueue.then(act);
    this.#exclusiveQueue = done.catch(() => {});
    return done;
  }

  #subscribe(): void {
    this.#subscription ??= this.#catchErrors(() =>
      this.#options.store.subscribe?.((notice) => this.#receiveMessage(notice)),
    );
  }

  /** Where pages cannot tell each other, each goes on by itself. */
  #catchErrors<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  async #loadStoredIds(): Promise<string[]> {
    const loading = this.#enqueueStoreCall(() =>
      this.#callStore((store) => store.load()),
    );
    try {
      return Array.from(await this.limitTime('load', loading), ([id]) => id);
    } catch (cause) {
      throw createStoreRejectedError(cause);
    }
  }

  /**
   * Discards views that were not compared with what is stored, and never will
   * be.
   */
  #discardUncompared(): void {
    if (!this.#hasRead) this.#pending.views.clear();
  }

  async #read(): Promise<void> {
    const { maxTags, onRead, tick } = this.#options;
    const asOf = this.#pending.isEmpty ? tick() : undefined;
    const stored = new Map(await this.#callStore((store) => store.load()));
    this.#adoptLedger(StoreLedger.fromEntry(stored.get(LEDGER_ID), maxTags));
    if (StoreLedger.isLost(stored)) this.#assumeAllChanged();
    this.#firstRead ??= { log: this.#ledger.log, read: this.#createMoment() };
    stored.delete(LEDGER_ID);
    onRead(
      [...stored].filter(([id, entry]) => this.#isValidEntry(id, entry)),
      asOf,
    );
    this.#hasRead = true;
  }

  /** Anybody may have updated everything since it was stored. */
  #assumeAllChanged(): void {
    this.#options.onError(
      new Error(
        'cache: its store has lost what was changed when: dropped what it kept',
      ),
    );
    this.#ledger.invalidations.record(ANY_WRITE, 0);
    this.#pending.add(INVALIDATE_ALL, ANY_WRITE);
    this.#scheduleWrite();
  }

  /** Whether an entry may be shown; one that may never be is removed. */
  #isValidEntry(id: string, entry: CacheEntry): boolean {
    const isView = isViewId(id);
    // What has another id was written by a version before.
    if (isView && !isCacheEntry(entry))
      this.#options.onError(
        new Error('cache: dropped an entry of its store that is no view'),
      );
    const isSound =
      isView && isCacheEntry(entry) && !this.#ledger.isOutdated(id, entry);
    if (isSound)
      this.#lastSeenSeq = Math.max(this.#lastSeenSeq, entry.stamp?.seq ?? 0);
    else if (!this.#pending.views.has(id)) this.writeView(id, undefined);
    return isSound && !this.#pending.invalidations.includes(INVALIDATE_ALL);
  }

  #adoptLedger(ledger: StoreLedger): void {
    this.#ledger = ledger;
    this.#lastSeenSeq = Math.max(this.#lastSeenSeq, ledger.seq);
  }

  #createMoment(): StoreMoment {
    const { now, clock } = this.#options;
    return {
      wallMs: now(),
      monotonicMs: clock.now(),
      programMoment: this.#countCall(),
    };
  }

  /**
   * An operation that began before the store was read came after what the
   * store's clock says was earlier.
   */
  #findEndedBefore({ seq, at }: KnownTransaction): number {
    if (at === undefined || this.#firstRead === undefined) return seq;
    const { log, read } = this.#firstRead;
    return Math.max(seq, log.findLastEndedBefore(at, read));
  }

  #scheduleWrite(): void {
    if (this.#isCollecting || this.#isClosed) return;
    this.#isCollecting = true;
    this.#retryTimer?.cancel();
    this.#lastBatch = this.#enqueueStoreCall(() => this.#writePending());
  }

  #enqueueStoreCall<T>(call: () => Promise<T>): Promise<T> {
    const done = this.#storeCallQueue.then(call);
    this.#storeCallQueue = done.catch(() => {});
    return done;
  }

  /**
   * After a failed call, a store may acknowledge what it loses until it is
   * opened again: it is closed before the next.
   */
  async #callStore<T>(call: (store: CacheStore) => Promise<T>): Promise<T> {
    const { store, onError } = this.#options;
    if (this.#hasFailed) await store.close();
    this.#hasFailed = false;
    try {
      return await call(store);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      // The call has opened it again if the cache was closed before the call
      // began.
      if (this.#isClosed) await runAsync(() => store.close()).catch(onError);
    }
  }

  async #writePending(): Promise<CorrectableError | undefined> {
    let batch: UnsavedChanges | undefined;
    try {
      // What is there has to be known where a store does not compare.
      if (!this.#hasRead) await this.#read();
      const page = this.#cacheId;
      batch = this.#takePending();
      await this.#writeBatch(batch, page);
    } catch (cause) {
      this.#options.onError(cause);
      this.#restoreRejected(batch);
      return createStoreRejectedError(cause);
    }
    this.#failureCount = 0;
    if (!this.#pending.isEmpty) this.#scheduleWrite();
    return undefined;
  }

  /**
   * All at once, or apart; of a store that has refused both, no more than the
   * first part is asked: one try, not two.
   */
  async #writeBatch(batch: UnsavedChanges, page: string): Promise<void> {
    if (this.#failureCount > 0) return this.#writeSeparately(batch, page);
    try {
      await this.#write(batch, page);
    } catch (cause) {
      if (![...batch.views.values()].some((view) => view !== undefined))
        throw cause;
      await this.#writeSeparately(batch, page);
    }
  }

  #takePending(): UnsavedChanges {
    const batch = this.#pending;
    this.#pending = new UnsavedChanges(this.#options.isKnown);
    this.#isCollecting = false;
    return batch;
  }

  /**
   * One view that a store rejects must not keep all else from it: writes the
   * invalidations first, then views by halves.
   */
  async #writeSeparately(batch: UnsavedChanges, page: string): Promise<void> {
    const written = await this.#write(batch, page, removeViews);
    // That transaction has judged them: it counts as known from then on.
    const knownTransaction = { seq: this.#ledger.seq };
    const filed = written.flatMap(([id, entry]): [string, CachedView][] => {
      const view = batch.views.get(id);
      return entry === undefined || view === undefined
        ? []
        : [[id, { ...view, knownTransaction }]];
    });
    await this.#writeByHalves(filed, page);
  }

  /**
   * What the store refuses is halved until it is one view, which stays in
   * memory alone.
   */
  async #writeByHalves(
    views: readonly (readonly [id: string, view: CachedView])[],
    page: string,
  ): Promise<void> {
    const [first] = views;
    // Whose they are has left, or the cache closes, meanwhile.
    if (first === undefined || this.#isClosed || this.#cacheId !== page) return;
    try {
      await this.#write({ views: new Map(views), invalidations: [] }, page);
    } catch (cause) {
      if (views.length === 1) return this.#options.onRejected(first[0], cause);
      const half = views.length >> 1;
      await this.#writeByHalves(views.slice(0, half), page);
      await this.#writeByHalves(views.slice(half), page);
    }
  }

  /**
   * Writes one transaction. Gives what it would have written, `withheld` or
   * not.
   */
  async #write(
    batch: WriteBatch,
    cacheId: string,
    withheld: (written: WrittenChanges) => WrittenChanges = keepAll,
  ): Promise<WrittenChanges> {
    const { decidePrecedence, maxTags, now } = this.#options;
    const findLastEndedBefore = (noted: KnownTransaction): number =>
      this.#findEndedBefore(noted);
    const writer = {
      cacheId,
      lastSeenSeq: this.#lastSeenSeq,
      findLastEndedBefore,
      maxTags,
      decidePrecedence,
    };
    let ledger = this.#ledger;
    let written: WrittenChanges = [];
    const settleFound: Transact = (found) => {
      const settled = runTransaction(
        batch,
        { ...writer, nowMs: now(), programMoment: this.#countCall() },
        found,
      );
      ({ ledger, written } = settled);
      return withheld(written);
    };
    const changes = settleFound(new Map([[LEDGER_ID, ledger.toEntry()]]));
    const isDurable = batch.invalidations.length > 0;
    await this.#callStore((store) =>
      store.write(changes, settleFound, { isDurable }),
    );
    this.#adoptLedger(ledger);
    const notice: BroadcastMessage = {
      seq: ledger.seq,
      changes: batch.invalidations,
    };
    this.#catchErrors(() => this.#subscription?.publish(notice));
    return written;
  }

  /** What has changed since counts. */
  #restoreRejected(batch: UnsavedChanges | undefined): void {
    if (batch === undefined) this.#isCollecting = false;
    else this.#pending.restoreRejected(batch);
    this.#pending.removeChosen((id) => !this.#options.isOfCurrentPrincipal(id));
    this.#failureCount += 1;
    this.#retryTimer?.cancel();
    this.#retryTimer = this.#options.clock.setTimer(
      () => this.#scheduleWrite(),
      backoff.delayMs(this.#failureCount, Math.random) as number,
    );
    this.#retryTimer.setRef?.(false);
  }

  #receiveMessage(notice: unknown): void {
    if (!isBroadcastMessage(notice)) return;
    this.#lastSeenSeq = Math.max(this.#lastSeenSeq, notice.seq);
    for (const change of notice.changes) this.#options.onInvalidation(change);
  }
}

const createCacheId = (): string =>
  `${Math.random().toString(36)}${Math.random().toString(36)}`;

const keepAll = (written: WrittenChanges): WrittenChanges => written;

function isBroadcastMessage(heard: unknown): heard is BroadcastMessage {
  if (!isRecord(heard)) return false;
  const { seq, changes } = heard;
  return (
    typeof seq === 'number' &&
    Array.isArray(changes) &&
    changes.every(isInvalidation)
  );
}

function isInvalidation(change: unknown): change is Invalidation {
  if (!isRecord(change)) return false;
  const { kind, scope, principal } = change;
  if (principal !== undefined && typeof principal !== 'string') return false;
  return (
    (kind === 'write' || kind === 'drop') &&
    (scope === undefined || Array.isArray(scope))
  );
}

/** Returns a promise that rejects with what `work` throws. */
export async function runAsync<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}
