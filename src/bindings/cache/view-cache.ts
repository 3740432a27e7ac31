/** The cached views in memory: bounded by number and by bytes, the least recently used leaving first. */
import type { CacheEntry } from './store.ts';
import { approximateBytes } from './size.ts';

/** The bounds of a cache. */
export interface CacheBounds {
  readonly entriesMax: number;
  readonly bytesMax: number;
}

/** A cached view with what orders it against others. */
export interface CachedView {
  readonly entry: CacheEntry;
  /** When, in this cache's own counting, the operation that gave the view began; 0 for one that a store kept. */
  readonly order: number;
}

interface Slot extends CachedView {
  readonly bytes: number;
}

/** Called for each change: with the entry that is now filed under `id`, or `undefined` when there is none any more. */
export type OnChange = (id: string, entry: CacheEntry | undefined) => void;

/** Files under no object: views that may depend on any. */
const ANY = undefined;

export class ViewCache {
  readonly #bounds: CacheBounds;
  readonly #onChange: OnChange;
  /** In the order of use, the least recently used first. */
  readonly #slots = new Map<string, Slot>();
  readonly #idsByKey = new Map<string | typeof ANY, Set<string>>();
  #bytes = 0;

  constructor(bounds: CacheBounds, onChange: OnChange) {
    this.#bounds = bounds;
    this.#onChange = onChange;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#slots.size, bytes: this.#bytes };
  }

  ids(): string[] {
    return [...this.#slots.keys()];
  }

  /** The view filed under `id`, without counting as a use. */
  peek(id: string): CachedView | undefined {
    return this.#slots.get(id);
  }

  /** The view filed under `id`, which becomes the most recently used. */
  use(id: string): CachedView | undefined {
    const slot = this.#slots.get(id);
    if (slot === undefined) return undefined;
    this.#slots.delete(id);
    this.#slots.set(id, slot);
    return slot;
  }

  /** Files a view, in the place of the one that was there. One that alone exceeds the bounds is not kept. */
  put(id: string, view: CachedView): void {
    const bytes = approximateBytes(view.entry) + approximateBytes(id);
    if (bytes > this.#bounds.bytesMax || this.#bounds.entriesMax < 1) {
      this.delete(id);
      return;
    }
    this.#unfile(id);
    this.#slots.set(id, { ...view, bytes });
    this.#bytes += bytes;
    for (const key of view.entry.touches ?? [ANY]) this.#idsFor(key).add(id);
    this.#onChange(id, view.entry);
    this.#evict();
  }

  delete(id: string): void {
    if (this.#unfile(id)) this.#onChange(id, undefined);
  }

  /** Removes every view that depends on one of these objects, or may; with `undefined`, all of them. */
  deleteTouched(touches: readonly string[] | undefined): void {
    const ids =
      touches === undefined ? this.ids() : [...touches, ANY].flatMap((key) => [...(this.#idsByKey.get(key) ?? [])]);
    for (const id of ids) this.delete(id);
  }

  #evict(): void {
    for (const id of this.#slots.keys()) {
      if (this.#slots.size <= this.#bounds.entriesMax && this.#bytes <= this.#bounds.bytesMax) return;
      this.delete(id);
    }
  }

  #idsFor(key: string | typeof ANY): Set<string> {
    let ids = this.#idsByKey.get(key);
    if (ids === undefined) this.#idsByKey.set(key, (ids = new Set()));
    return ids;
  }

  #unfile(id: string): boolean {
    const slot = this.#slots.get(id);
    if (slot === undefined) return false;
    this.#slots.delete(id);
    this.#bytes -= slot.bytes;
    for (const key of slot.entry.touches ?? [ANY]) {
      const ids = this.#idsByKey.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#idsByKey.delete(key);
    }
    return true;
  }
}
