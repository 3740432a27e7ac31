/**
 * The rows of a table of which not all are in memory. A row that has changed since the last commit
 * is *dirty* and stays. Others leave memory, and are loaded again when they are read.
 *
 * What a row noted last says whether it is dirty: the period of `RowChanges`. So a commit makes
 * rows clean without a walk over them.
 */
import type { RowChanges } from '../records/checkpoint.ts';
import type { CachedItem, ItemOwner, ResidentCache } from './resident-cache.ts';
import type { Row, Rows } from './row.ts';

/** What the rows need of their table. */
export interface PagedRowsHost {
  readonly changes: Pick<RowChanges<string>, 'period' | 'committedPeriod'>;
  readonly cache: ResidentCache;
  /** Creates a row as the store has it; `undefined` if it has none. */
  load(key: string): Row | undefined;
  measure(key: string, row: Row): number;
  onLoaded(bytes: number): void;
  onLeft(key: string, bytes: number): void;
}

interface Resident extends CachedItem {
  readonly key: string;
  readonly row: Row;
  /** Whether the cache has the item. */
  isCached: boolean;
}

export class PagedRows implements Rows, ItemOwner {
  readonly #host: PagedRowsHost;
  readonly #residents = new Map<string, Resident>();
  /** Rows that were removed since the last set was closed. The store may have them still. */
  #removed = new Set<string>();
  /** Rows that were removed before, as long as the set is not committed. */
  #closedRemoved = new Set<string>();
  #cleanBytes = 0;
  /** The bytes of the rows of the closed set that have not changed since. */
  #closedBytes: number | undefined;

  constructor(host: PagedRowsHost) {
    this.#host = host;
  }

  /** The bytes of the rows in memory that are not dirty. */
  get cleanBytes(): number {
    return this.#cleanBytes;
  }

  get(key: string): Row | undefined {
    const resident = this.#residents.get(key);
    if (resident === undefined) return this.#load(key);
    resident.isUsed = true;
    return resident.row;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds a new row, which is dirty. */
  set(key: string, row: Row): void {
    this.#residents.set(key, this.#createResident(key, row));
  }

  delete(key: string): void {
    this.#residents.delete(key);
    this.#removed.add(key);
  }

  /** Returns a row without keeping it in memory. */
  view(key: string): Row | undefined {
    const resident = this.#residents.get(key);
    return resident?.row ?? (this.#isRemoved(key) ? undefined : this.#host.load(key));
  }

  /** Whether the store decides what the row is: memory has neither it nor its removal. */
  isAway(key: string): boolean {
    return !this.#residents.has(key) && !this.#isRemoved(key);
  }

  /** To be called before a row changes that was not noted in this period. */
  beforeChange(key: string, row: Row): void {
    const { changes, measure } = this.#host;
    const isClean = row.notedIn <= changes.committedPeriod;
    if (isClean) this.#countClean(-measure(key, row));
    else if (this.#closedBytes !== undefined) this.#closedBytes -= measure(key, row);
  }

  /** The row was taken from the closed set. It may leave memory once that is committed. */
  onTaken(key: string): void {
    const resident = this.#residents.get(key);
    if (resident === undefined || resident.isCached) return;
    resident.isCached = true;
    this.#host.cache.add(resident);
  }

  release(resident: Resident): boolean {
    const { key, row } = resident;
    if (this.#residents.get(key) !== resident) return true;
    if (this.isDirty(row)) {
      // A row that has changed since the set was closed is taken again with the next one.
      resident.isCached = row.notedIn !== this.#host.changes.period;
      return !resident.isCached;
    }
    const bytes = this.#host.measure(key, row);
    this.#residents.delete(key);
    this.#countClean(-bytes);
    this.#host.onLeft(key, bytes);
    return true;
  }

  isDirty({ notedIn }: Row): boolean {
    return notedIn > this.#host.changes.committedPeriod;
  }

  /** @param bytes of all rows in memory */
  closeChanges(bytes: number): void {
    this.#closedBytes = bytes - this.#cleanBytes;
    this.#closedRemoved = this.#removed;
    this.#removed = new Set();
  }

  onCommitted(): void {
    this.#countClean(this.#closedBytes ?? 0);
    this.#closedBytes = undefined;
    this.#closedRemoved = new Set();
  }

  onCommitFailed(): void {
    this.#closedBytes = undefined;
    for (const key of this.#closedRemoved) this.#removed.add(key);
    this.#closedRemoved = new Set();
  }

  #load(key: string): Row | undefined {
    const row = this.#isRemoved(key) ? undefined : this.#host.load(key);
    if (row === undefined) return undefined;
    const bytes = this.#host.measure(key, row);
    const resident = this.#createResident(key, row);
    resident.isCached = true;
    this.#host.cache.add(resident);
    this.#residents.set(key, resident);
    this.#countClean(bytes);
    this.#host.onLoaded(bytes);
    return row;
  }

  #createResident(key: string, row: Row): Resident {
    return { owner: this, key, row, isUsed: false, isCached: false };
  }

  #isRemoved(key: string): boolean {
    return this.#removed.has(key) || this.#closedRemoved.has(key);
  }

  #countClean(bytes: number): void {
    this.#cleanBytes += bytes;
    this.#host.cache.count(bytes);
  }
}
