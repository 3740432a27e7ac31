/**
 * Reads the store of a cache, then writes changes in the background. It makes one call at a time,
 * in order, and retries failed ones.
 */
import { exponentialBackoff } from '../../../correctable/backoff.ts';
import type { Clock, Timer } from '../../../correctable/clock.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { isViewId } from '../cache-key.ts';
import type { Invalidation, InvalidationLogData } from '../invalidation-log.ts';
import { INVALIDATE_ALL, ANY_WRITE, UnsavedChanges } from './unsaved-changes.ts';
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
  /** Approximate maximum size of unwritten data of former principals. */
  readonly maxBytes: number;
  readonly isKnown: (id: string) => boolean;
  readonly isOfCurrentPrincipal: (id: string) => boolean;
  /** Called when the store has rejected a view but accepted the other changes. */
  readonly onRejected: (id: string, cause: unknown) => void;
  readonly onError: (error: unknown) => void;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly onInvalidation: (change: Invalidation) => void;
  /**
   * Returns the time of the cache. Called when a read of the store begins while no change waits to
   * be written. At that time the store has all changes.
   */
  readonly tick: () => number;
  /**
   * Called when the store was read, before anything is written. `asOf` is the time of that state.
   * Default: before everything
   */
  readonly onRead: (stored: StoredEntries, asOf: number | undefined) => void;
}

export type StoredEntries = readonly (readonly [id: string, entry: CacheEntry])[];

/** A notice to the other caches on the store after each transaction. */
interface BroadcastMessage {
  readonly seq: number;
  readonly changes: readonly Invalidation[];
}

export class Persistence {
  readonly #options: PersistenceOptions;
  readonly #countCall: ReturnType<typeof getCounter>;
  /** Unique to this cache. It identifies the owner of stored views. */
  #cacheId = createCacheId();
  readonly #hangingCalls = new Set<StoreCall>();
  /** The calls that have not ended, with the time since when a caller waits for each. */
  readonly #waitedSinceMs = new Map<StoreCall, number>();
  #subscription: CacheSubscription | undefined;
  /** The ledger as it was last read or written. */
  #ledger: StoreLedger;
  /** The latest transaction that this cache made or was notified of. */
  #lastSeenSeq = 0;
  /**
   * The store's transactions at the first read, and the time of that read. Needed for operations
   * that began before the first read.
   */
  #firstRead: { readonly log: TransactionLog; readonly read: StoreMoment } | undefined;
  /** Whether the stored views are in memory. Nothing is written before. */
  #hasRead = false;
  #pending: UnsavedChanges;
  /**
   * Resolves with the error of the last batch, if it failed. The batch may be collecting, in flight
   * or done.
   */
  #lastBatch: Promise<CorrectableError | undefined> = Promise.resolve(undefined);
  #isCollecting = false;
  /** A read that has not begun. */
  #nextRead: Promise<void> | undefined;
  #storeCallQueue: Promise<unknown> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;
  /** Calls of `clear` and `close`, one after the other. */
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

  /** Returns which transactions of the store are known now, for an operation that begins. */
  getKnownTransaction(): KnownTransaction {
    return {
      seq: this.#lastSeenSeq,
      ...(this.#firstRead === undefined && { at: this.#createMoment() }),
    };
  }

  /** The changes of all pages on the store that this one knows. */
  get invalidationData(): InvalidationLogData {
    return this.#ledger.invalidations.data;
  }

  /**
   * Reads the store after the calls in flight, once for all callers until it begins. Throws what
   * the store throws.
   */
  read(): Promise<void> {
    this.#nextRead ??= this.#enqueueStoreCall(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
  }

  /** Removes the pending write of a view. */
  removeView(id: string): void {
    this.#pending.views.delete(id);
  }

  /**
   * Forgets the principal. From now on this page treats its own earlier writes like those of other
   * pages.
   */
  clear(): void {
    this.#cacheId = createCacheId();
    this.#discardUncompared();
    // While the store accepts no writes, do not keep unwritten views of the former principal.
    if (this.#failureCount > 0 || this.#hangingCalls.has('write'))
      this.#pending.removeChosen(() => true);
    this.#pending.limitBytes(this.#options.maxBytes);
    this.#hasRead = false;
  }

  writeView(id: string, view: CachedView | undefined): void {
    this.#pending.setView(id, view);
    // A failing store is retried by its own timer. Each retry writes all pending changes.
    if (view === undefined || this.#failureCount === 0) this.#scheduleWrite();
  }

  /** Invalidates views that were read before the change, whichever client wrote them. */
  invalidate(change: Invalidation): void {
    this.#pending.add(change);
    this.#scheduleWrite();
  }

  /**
   * Resolves when earlier changes are in the store. Throws `UNAVAILABLE` after `limitMs`, or at
   * once if the store hangs.
   */
  async waitUntilWritten(limitMs: number = STORE_TIMEOUT_MS): Promise<void> {
    if (!this.#pending.isEmpty) this.#scheduleWrite();
    const rejection = await this.limitTime('write', this.#lastBatch, limitMs);
    if (rejection !== undefined) throw rejection;
  }

  /**
   * Invalidates `scope` and removes the selected ids, including views that other pages wrote.
   * Throws `UNAVAILABLE` if the store fails.
   */
  invalidateScope(scope: TagScope, isChosen?: (id: string) => boolean): Promise<void> {
    return this.#runExclusive(() => this.#invalidateScope({ kind: 'drop', scope }, isChosen));
  }

  /** Works as `invalidate`, after `close()`. Throws `UNAVAILABLE` if the store fails. */
  invalidateAfterClose(change: Invalidation): Promise<void> {
    return this.#runExclusive(() => this.#invalidateScope(change));
  }

  /** Writes the remaining changes, once more if the store fails, and closes the store. */
  close(): Promise<void> {
    return this.#runExclusive(() => this.#close());
  }

  async #invalidateScope(change: Invalidation, isChosen?: (id: string) => boolean): Promise<void> {
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
        if (isUnderWay && !this.#pending.isEmpty) return this.waitUntilWritten();
        throw rejection;
      });
    } catch (error) {
      // Other failures of the store have been reported already.
      if (isStoreTimeout(error)) onError(createUnwrittenError(error));
    }
    this.#isClosed = true;
    this.#retryTimer?.cancel();
    const connection = this.#subscription;
    this.#subscription = undefined;
    // A caller that signs out clears the cache after closing it. A store that cannot be closed must
    // not prevent that.
    this.#catchErrors(() => connection?.close());
    await this.limitTime(
      'close',
      runAsync(() => store.close()),
    ).catch(onError);
  }

  /**
   * Waits for the store. Throws `UNAVAILABLE` after `limitMs`, or at once if such a call hangs
   * already.
   */
  limitTime<T>(call: StoreCall, work: Promise<T>, limitMs: number = STORE_TIMEOUT_MS): Promise<T> {
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
        // Several callers may have waited for the same call, each for a shorter time.
        if (clock.now() - sinceMs >= STORE_TIMEOUT_MS) this.#hangingCalls.add(call);
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

  /** Runs `act` after earlier ones, so that a store is not closed while another call clears it. */
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

  /**
   * Calls `act` and reports its errors. If pages cannot notify each other, each page continues
   * without notices.
   */
  #catchErrors<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  async #loadStoredIds(): Promise<string[]> {
    const loading = this.#enqueueStoreCall(() => this.#callStore((store) => store.load()));
    try {
      return Array.from(await this.limitTime('load', loading), ([id]) => id);
    } catch (cause) {
      throw createStoreRejectedError(cause);
    }
  }

  /** Drops views that were not compared with the store, and never will be. */
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

  /** Records that any principal may have changed any object since the views were stored. */
  #assumeAllChanged(): void {
    this.#options.onError(
      new Error('cache: its store has lost what was changed when: dropped what it kept'),
    );
    this.#ledger.invalidations.record(ANY_WRITE, 0);
    this.#pending.add(INVALIDATE_ALL, ANY_WRITE);
    this.#scheduleWrite();
  }

  /** Returns whether an entry may be shown. Removes an entry that can never be shown. */
  #isValidEntry(id: string, entry: CacheEntry): boolean {
    const isView = isViewId(id);
    // An earlier version of this package wrote entries with other ids.
    if (isView && !isCacheEntry(entry))
      this.#options.onError(new Error('cache: dropped an entry of its store that is no view'));
    const isSound = isView && isCacheEntry(entry) && !this.#ledger.isOutdated(id, entry);
    if (isSound) this.#lastSeenSeq = Math.max(this.#lastSeenSeq, entry.stamp?.seq ?? 0);
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
   * Finds the last transaction before an operation. If the operation began before the store was
   * read, it counts as after the transactions that are earlier by the store's clock.
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
   * After a failed call, a store may acknowledge writes that it loses until it is opened again. So
   * it is closed before the next call.
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
      // If the cache was closed before the call began, the call has opened the store again.
      if (this.#isClosed) await runAsync(() => store.close()).catch(onError);
    }
  }

  async #writePending(): Promise<CorrectableError | undefined> {
    let batch: UnsavedChanges | undefined;
    try {
      // Read the store before the first write: a store that does not call `settle` would replace
      // entries that this page does not know.
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
   * Writes all changes at once, or in parts if that fails. A store that has rejected both gets one
   * call per retry, not two.
   */
  async #writeBatch(batch: UnsavedChanges, page: string): Promise<void> {
    if (this.#failureCount > 0) return this.#writeSeparately(batch, page);
    try {
      await this.#write(batch, page);
    } catch (cause) {
      if (![...batch.views.values()].some((view) => view !== undefined)) throw cause;
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
   * Writes the invalidations first, then the views by halves, so that one rejected view does not
   * prevent all other changes.
   */
  async #writeSeparately(batch: UnsavedChanges, page: string): Promise<void> {
    const written = await this.#write(batch, page, removeViews);
    // The transaction above has compared these views with the store, so it counts as known for
    // them.
    const knownTransaction = { seq: this.#ledger.seq };
    const views = written.flatMap(([id, entry]): [string, CachedView][] => {
      const view = batch.views.get(id);
      return entry === undefined || view === undefined ? [] : [[id, { ...view, knownTransaction }]];
    });
    await this.#writeByHalves(views, page);
  }

  /** Halves a rejected batch until it is a single view, which stays in memory only. */
  async #writeByHalves(
    views: readonly (readonly [id: string, view: CachedView])[],
    page: string,
  ): Promise<void> {
    const [first] = views;
    // Stop if the principal has changed, or the cache was closed, meanwhile.
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
   * Writes one transaction. Returns all changes of the batch, including those that the transaction
   * left out.
   */
  async #write(
    batch: WriteBatch,
    cacheId: string,
    withheld: (written: WrittenChanges) => WrittenChanges = keepAll,
  ): Promise<WrittenChanges> {
    const { decidePrecedence, maxTags, now } = this.#options;
    const findLastEndedBefore = (noted: KnownTransaction): number => this.#findEndedBefore(noted);
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
    await this.#callStore((store) => store.write(changes, settleFound, { isDurable }));
    this.#adoptLedger(ledger);
    const notice: BroadcastMessage = {
      seq: ledger.seq,
      changes: batch.invalidations,
    };
    this.#catchErrors(() => this.#subscription?.publish(notice));
    return written;
  }

  /** Later changes take precedence over the rejected ones. */
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

const createCacheId = (): string => `${Math.random().toString(36)}${Math.random().toString(36)}`;

const keepAll = (written: WrittenChanges): WrittenChanges => written;

function isBroadcastMessage(heard: unknown): heard is BroadcastMessage {
  if (!isRecord(heard)) return false;
  const { seq, changes } = heard;
  return typeof seq === 'number' && Array.isArray(changes) && changes.every(isInvalidation);
}

function isInvalidation(change: unknown): change is Invalidation {
  if (!isRecord(change)) return false;
  const { kind, scope, principal } = change;
  if (principal !== undefined && typeof principal !== 'string') return false;
  return (kind === 'write' || kind === 'drop') && (scope === undefined || Array.isArray(scope));
}

/** Returns a promise that rejects with what `work` throws. */
export async function runAsync<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}
