/**
 * The cached views in memory, limited in number and bytes. The least recently used are dropped
 * first.
 */
import { getTags, type TagScope } from './tags.ts';
import { estimateBytes } from '../../values/estimate-bytes.ts';
import type { CacheEntry } from './cache-store.ts';
import type { KnownTransaction } from './persistence/transaction-log.ts';

export interface CacheLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export interface CachedView {
  readonly entry: CacheEntry;
  /**
   * When its operation began, by the cache's own clock. At most `BEFORE_LOCAL_TIME` if it comes
   * from a store.
   */
  readonly startedAt: number;
  /** When the view was learned, by the cache's own clock. */
  readonly learnedAt: number;
  /** The store's transactions that were known when the operation began. */
  readonly knownTransaction: KnownTransaction;
  /** Whether the inner binding has no stronger view of it. */
  readonly isStrongest: boolean;
  /** Whether a store would return an equal view. Storing changes some values. */
  readonly isDurable: boolean;
  /** When it becomes too old to be shown, by the monotonic clock. */
  readonly expiresAtMs: number;
}

interface CacheSlot extends CachedView {
  readonly bytes: number;
  readonly tags: readonly string[];
}

/**
 * Called for each change with the view that is now cached as `id`, or with `undefined` if there is
 * none any more.
 */
export type ChangeListener = (id: string, view: CachedView | undefined) => void;

export class ViewCache {
  readonly #limits: CacheLimits;
  readonly #onChange: ChangeListener;
  /** In the order of use, the least recently used first. */
  readonly #slots = new Map<string, CacheSlot>();
  readonly #idsByTag = new Map<string, Set<string>>();
  #bytes = 0;

  constructor(limits: CacheLimits, onChange: ChangeListener) {
    this.#limits = limits;
    this.#onChange = onChange;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#slots.size, bytes: this.#bytes };
  }

  /** Returns the view `id`. This does not count as a use. */
  peek(id: string): CachedView | undefined {
    return this.#slots.get(id);
  }

  /** Returns the view `id`, and makes it the most recently used. */
  use(id: string): CachedView | undefined {
    const slot = this.#slots.get(id);
    if (slot === undefined) return undefined;
    this.#slots.delete(id);
    this.#slots.set(id, slot);
    return slot;
  }

  /**
   * Caches a view and replaces an earlier one. A view that alone exceeds the limits is not cached.
   */
  put(id: string, view: CachedView): void {
    const bytes = estimateBytes(view.entry) + estimateBytes(id);
    if (bytes > this.#limits.maxBytes || this.#limits.maxEntries < 1) {
      this.delete(id);
      return;
    }
    this.#removeSlot(id);
    const tags = getTags(id, view.entry.touches);
    this.#slots.set(id, { ...view, bytes, tags });
    this.#bytes += bytes;
    for (const mark of tags) this.#getIds(mark).add(id);
    this.#onChange(id, view);
    this.#evict();
  }

  delete(id: string): void {
    if (this.#removeSlot(id)) this.#onChange(id, undefined);
  }

  deleteInScope(scope: TagScope): void {
    const ids =
      scope === undefined
        ? this.#slots.keys()
        : scope.flatMap((mark) => [...(this.#idsByTag.get(mark) ?? [])]);
    for (const id of ids) this.delete(id);
  }

  /** Deletes the selected views. */
  deleteWhere(isChosen: (id: string, view: CachedView, tags: readonly string[]) => boolean): void {
    for (const [id, slot] of this.#slots) if (isChosen(id, slot, slot.tags)) this.delete(id);
  }

  /** Deletes every view that is too old at `nowMs`. Returns when the next one will be. */
  deleteExpired(nowMs: number): number {
    let nextMs = Infinity;
    for (const [id, { expiresAtMs }] of this.#slots) {
      if (expiresAtMs <= nowMs) this.delete(id);
      else nextMs = Math.min(nextMs, expiresAtMs);
    }
    return nextMs;
  }

  /** Empties the memory without a notification. Views in a store stay there. */
  clear(): void {
    this.#slots.clear();
    this.#idsByTag.clear();
    this.#bytes = 0;
  }

  #evict(): void {
    for (const id of this.#slots.keys()) {
      if (this.#slots.size <= this.#limits.maxEntries && this.#bytes <= this.#limits.maxBytes)
        return;
      this.delete(id);
    }
  }

  #getIds(mark: string): Set<string> {
    let ids = this.#idsByTag.get(mark);
    if (ids === undefined) this.#idsByTag.set(mark, (ids = new Set()));
    return ids;
  }

  #removeSlot(id: string): boolean {
    const slot = this.#slots.get(id);
    if (slot === undefined) return false;
    this.#slots.delete(id);
    this.#bytes -= slot.bytes;
    for (const mark of slot.tags) {
      const ids = this.#idsByTag.get(mark);
      ids?.delete(id);
      if (ids?.size === 0) this.#idsByTag.delete(mark);
    }
    return true;
  }
}
