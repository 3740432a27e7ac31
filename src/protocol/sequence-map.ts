/**
 * A table by operation number. Numbers rise and entries leave almost in that order, so entries are
 * kept in short pages. A `Map` was rejected: it replaces its table when it grows, and each old
 * table points to the next. Once one of these is in the old generation, everything after it
 * survives until the next full garbage collection, entries included.
 */

const PAGE_BITS = 5;
const PAGE_SIZE = 1 << PAGE_BITS;

/** A page to copy. That takes less than a tenth of the time of `Array.from`. */
const NO_ENTRIES: readonly undefined[] = Array.from({ length: PAGE_SIZE }, () => undefined);

interface Page<T> {
  readonly slots: (T | undefined)[];
  used: number;
}

/**
 * Entries by number: safe integers of 0 or more. Iterates in the order in which pages were begun,
 * then by number.
 */
export class SequenceMap<T extends object> {
  readonly #pages = new Map<number, Page<T>>();
  #currentPage: Page<T> | undefined;
  #currentPageNumber = -1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get pages(): number {
    return this.#pages.size - (this.#currentPage?.used === 0 ? 1 : 0);
  }

  get(id: number): T | undefined {
    return this.#findPage(Math.floor(id / PAGE_SIZE))?.slots[id % PAGE_SIZE];
  }

  set(id: number, entry: T): void {
    const number = Math.floor(id / PAGE_SIZE);
    const page = this.#findPage(number) ?? this.#addPage(number);
    const slot = id % PAGE_SIZE;
    if (page.slots[slot] === undefined) {
      page.used++;
      this.#size++;
    }
    page.slots[slot] = entry;
  }

  delete(id: number): void {
    this.remove(id);
  }

  remove(id: number): T | undefined {
    const page = this.#findPage(Math.floor(id / PAGE_SIZE));
    const slot = id % PAGE_SIZE;
    const entry = page?.slots[slot];
    if (page === undefined || entry === undefined) return undefined;
    page.slots[slot] = undefined;
    page.used--;
    this.#size--;
    return entry;
  }

  clear(): void {
    this.#pages.clear();
    this.#currentPage = undefined;
    this.#currentPageNumber = -1;
    this.#size = 0;
  }

  /** Calls `use` for each entry until it returns false. Entries may be deleted meanwhile. */
  forEach(use: (entry: T, id: number) => unknown): void {
    for (const [number, page] of this.#pages) {
      // A page that was emptied meanwhile may be in use for other numbers.
      for (let slot = 0; slot < PAGE_SIZE && this.#pages.get(number) === page; slot++) {
        const entry = page.slots[slot];
        if (entry !== undefined && use(entry, number * PAGE_SIZE + slot) === false) return;
      }
    }
  }

  #findPage(number: number): Page<T> | undefined {
    if (number === this.#currentPageNumber) return this.#currentPage;
    const page = this.#pages.get(number);
    if (page !== undefined) this.#setCurrentPage(number, page);
    return page;
  }

  #addPage(number: number): Page<T> {
    const isSpare = this.#currentPage?.used === 0;
    const page: Page<T> = isSpare
      ? (this.#currentPage as Page<T>)
      : { slots: NO_ENTRIES.slice(), used: 0 };
    this.#setCurrentPage(number, page);
    this.#pages.set(number, page);
    return page;
  }

  /**
   * An emptied page stays until another one is used. With one operation at a time, the next
   * operation mostly belongs to the same page.
   */
  #setCurrentPage(number: number, page: Page<T>): void {
    if (this.#currentPage?.used === 0) this.#pages.delete(this.#currentPageNumber);
    this.#currentPage = page;
    this.#currentPageNumber = number;
  }
}
