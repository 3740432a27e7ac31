import type { Clock } from '../../correctable/clock.ts';
import type { CacheCoherence } from './cache-coherence.ts';
import { getViewOperationHash, getViewOperationName, getViewPrincipal } from './cache-key.ts';
import type { CacheEntry, CacheStore } from './cache-store.ts';
import type { Invalidation } from './invalidation-log.ts';
import { Persistence, type StoredEntries } from './persistence/persistence.ts';
import { isStoreTimeout, STORE_TIMEOUT_MS } from './persistence/store-errors.ts';
import type { KnownTransaction } from './persistence/transaction-log.ts';
import type { PrincipalReader } from './principal-reader.ts';
import type { TagScope } from './tags.ts';
import type { CachedView, CacheLimits } from './view-cache.ts';

export interface StoreSynchronizerOptions {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly views: CacheCoherence;
  readonly principals: PrincipalReader;
  readonly getOperationHash: (name: string) => string | undefined;
  readonly limits: CacheLimits;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * The notification of the store when a view enters or leaves memory: the change, only the
 * retraction of a pending write, or nothing.
 */
type Notification = 'change' | 'retract' | 'nothing';
type NotificationChoice = (view: CachedView | undefined) => Notification;

const notifyChange: NotificationChoice = () => 'change';
const notifyRetraction: NotificationChoice = () => 'retract';
const notifyNothing: NotificationChoice = () => 'nothing';

/** Keeps the views in the memory of a cache and those in its store in agreement. */
export class StoreSynchronizer {
  readonly #options: StoreSynchronizerOptions;
  readonly #persistence: Persistence;
  #loading: Promise<unknown> | undefined;
  #pendingRead: Promise<unknown> = Promise.resolve();
  /**
   * Decides what the store is notified of. A change that came from the store is not written back to
   * it.
   */
  #chooseNotification: NotificationChoice = notifyChange;
  /** Whether memory stays empty from now on. */
  #isClosed = false;

  constructor(options: StoreSynchronizerOptions) {
    const { store, clock, views, principals, limits, now, onError } = options;
    this.#options = options;
    this.#persistence = new Persistence({
      store,
      clock,
      decidePrecedence: (...judged) => views.decidePrecedence(...judged),
      isKnown: (id) => views.has(id),
      isOfCurrentPrincipal: (id) => getViewPrincipal(id) === principals.current,
      onRejected: (id, cause) => views.reportRejectedView(id, cause),
      maxTags: limits.maxEntries,
      maxBytes: limits.maxBytes,
      onError,
      now,
      onInvalidation: (change) =>
        this.#runWithNotification(notifyNothing, () => views.invalidate(change)),
      tick: () => views.tick(),
      onRead: (stored, asOf) => this.#restore(stored, asOf),
    });
    views.hasUnreadStore = true;
  }

  /**
   * Resolves when the stored views are in memory. `undefined` if they are, or if the store took too
   * long.
   */
  get loading(): Promise<unknown> | undefined {
    return this.#loading;
  }

  load(): void {
    const reading = this.#persistence.read();
    // If a read of the store has not begun yet, this call uses it too.
    if (reading === this.#pendingRead) return;
    this.#pendingRead = reading;

    // After the time limit no operation waits any more. If the store still returns its views then,
    // they are used all the same.
    const loading = this.#persistence
      .limitTime('load', reading)
      .catch(this.#options.onError)
      .then(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    this.#loading = loading;
  }

  /**
   * Resolves when the store has been read. Each caller waits for the full time limit, even if
   * others have given up.
   */
  async waitUntilRead(): Promise<void> {
    await this.#persistence.limitTime('ready', this.#pendingRead).catch(() => {});
  }

  getKnownTransaction(): KnownTransaction {
    return this.#persistence.getKnownTransaction();
  }

  /** Writes the view that is now cached as `id`, or removes it. */
  persist(id: string, view: CachedView | undefined): void {
    const notification = this.#chooseNotification(view);
    if (notification === 'retract') this.#persistence.removeView(id);
    else if (notification === 'change')
      this.#persistence.writeView(id, view?.isDurable === true ? view : undefined);
  }

  /**
   * Writes what an update has invalidated. Resolves when that is written, or after half of the
   * remaining time of the update.
   */
  recordInvalidation(update: Invalidation, remainingMs: number): Promise<unknown> {
    const { onError } = this.#options;
    if (this.#isClosed) return this.#persistence.invalidateAfterClose(update).catch(onError);

    this.#persistence.invalidate(update);
    return this.#persistence
      .waitUntilWritten(Math.min(STORE_TIMEOUT_MS, Math.max(0, remainingMs / 2)))
      .catch((error: unknown) => {
        // Other errors of the store have been reported already.
        if (isStoreTimeout(error)) onError(error);
      });
  }

  invalidateScope(scope: TagScope, isChosen?: (id: string) => boolean): Promise<void> {
    return this.#persistence.invalidateScope(scope, isChosen);
  }

  /** Forgets the former principal, and loads the views of the present one. */
  changePrincipal(): void {
    this.#persistence.clear();
    // Do not load after the cache was closed: no code would close the reopened store.
    if (!this.#isClosed) this.load();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#persistence.close();
  }

  #restore(stored: StoredEntries, asOf: number | undefined): void {
    const { views, onError } = this.#options;
    if (this.#isClosed) return;
    try {
      this.#options.principals.read();
    } catch (error) {
      // The principal is unknown, so no views are shown. Changes are still written.
      onError(error);
    }
    const own = this.#selectOwnViews(stored);
    const oldestFirst = own.toSorted(([, a], [, b]) => a.cachedAt - b.cachedAt);
    this.#runWithNotification(
      // A view that does not fit into memory has to leave the store.
      (view) => (view === undefined ? 'change' : 'retract'),
      () => {
        for (const [id, entry] of oldestFirst) views.restore(id, entry, asOf);
      },
    );
    // Do not notify the store: it decides itself which of its views may be stale.
    this.#runWithNotification(notifyRetraction, () =>
      views.importInvalidations(this.#persistence.invalidationData),
    );
  }

  /**
   * Returns the views of the present principal. Removes those from the store that are too old or
   * that another version of the contract has written, which no lookup would find.
   */
  #selectOwnViews(stored: StoredEntries): [id: string, entry: CacheEntry][] {
    const { views, principals, getOperationHash } = this.#options;
    const own: [id: string, entry: CacheEntry][] = [];
    for (const [id, entry] of stored) {
      const isOfThisContract =
        getViewOperationHash(id) === getOperationHash(getViewOperationName(id));
      if (!isOfThisContract || !views.isFresh(entry)) this.#persistence.writeView(id, undefined);
      else if (getViewPrincipal(id) === principals.current) own.push([id, entry]);
    }
    return own;
  }

  #runWithNotification(choice: NotificationChoice, act: () => void): void {
    this.#chooseNotification = choice;
    act();
    this.#chooseNotification = notifyChange;
  }
}
