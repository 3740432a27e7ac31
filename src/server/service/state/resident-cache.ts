/**
 * What a site has in memory although its store has it too: rows that have not changed since the
 * last commit, and chunks of orders. Beyond a bound of bytes they leave memory. An item that was
 * used since the last look at it stays for one more (second chance), so a use costs one flag and no
 * move in a list.
 */
import { Fifo } from '../collections/fifo.ts';

/** A look at more items would make one read slow. Each addition looks, so the bound is reached. */
const MAX_LOOKS = 16;
/** After a commit many rows may leave at once. So many looks take a few milliseconds. */
const MAX_COMMIT_LOOKS = 20_000;

export interface CachedItem {
  readonly owner: ItemOwner;
  isUsed: boolean;
}

/** What has the items of one kind. It counts their bytes. */
export interface ItemOwner {
  /**
   * Gives up the item, if it still has it and the store has it too. Returns whether the cache need
   * not look at the item any more.
   */
  release(item: CachedItem): boolean;
}

export class ResidentCache {
  readonly #maxBytes: number;
  readonly #items = new Fifo<CachedItem>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes of items that came or went. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Adds an item. Others may leave before, and this one does not leave before the next call. */
  add(item: CachedItem): void {
    this.#shrink(MAX_LOOKS);
    this.#items.push(item);
  }

  /** Items that had to stay until now may leave. */
  onCommitted(): void {
    this.#shrink(MAX_COMMIT_LOOKS);
  }

  #shrink(maxLooks: number): void {
    for (let looks = 0; looks < maxLooks && this.#bytes > this.#maxBytes; looks += 1) {
      const oldest = this.#items.shift();
      if (oldest === undefined) return;
      if (oldest.isUsed) {
        oldest.isUsed = false;
        this.#items.push(oldest);
      } else if (!oldest.owner.release(oldest)) this.#items.push(oldest);
    }
  }
}
