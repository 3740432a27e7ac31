/**
 * Records which principal has updated what. At weaker levels, the author of an update must never
 * see the old value again. Other principals may see it.
 */
import type { TagScope } from './tags.ts';
import { hashTag } from './tag-timestamps.ts';

/**
 * Hashes of tags by the hash of the principal; `''` is any principal. `null` means all tags. Plain
 * data for JSON.
 */
export type WriteAuthorsData = readonly (readonly [who: string, marks: readonly string[] | null])[];

const ANY_AUTHOR = '';

export class WriteAuthors {
  readonly #maxTags: number;
  readonly #tagsByAuthor = new Map<string, Set<string> | null>();

  constructor(maxMarks: number, data: WriteAuthorsData = []) {
    this.#maxTags = maxMarks;
    this.merge(data);
  }

  get data(): WriteAuthorsData {
    return Array.from(this.#tagsByAuthor, ([caller, tags]) => [caller, tags && [...tags]] as const);
  }

  /** Records that `caller` has updated the objects in `scope`. Default: any caller */
  add(caller: string | undefined, scope: TagScope): void {
    this.#add(caller === undefined ? ANY_AUTHOR : hashTag(caller), scope?.map(hashTag) ?? null);
    this.#enforceLimit();
  }

  /** Adds the records of another cache. */
  merge(data: WriteAuthorsData): void {
    for (const [caller, tags] of data) this.#add(caller, tags);
    this.#enforceLimit();
  }

  /** Returns whether `caller` has, or may have, updated an object with one of these tags. */
  has(caller: string, tags: readonly string[]): boolean {
    if (this.#tagsByAuthor.size === 0) return false;
    const isTheirs = (item: string): boolean => {
      const theirs = this.#tagsByAuthor.get(item);
      return theirs === null || tags.some((mark) => theirs?.has(hashTag(mark)));
    };
    return isTheirs(ANY_AUTHOR) || isTheirs(hashTag(caller));
  }

  #add(caller: string, tags: readonly string[] | null): void {
    const known = this.#tagsByAuthor.get(caller);
    if (known === null) return;
    if (tags === null) this.#tagsByAuthor.set(caller, null);
    else if (known === undefined) this.#tagsByAuthor.set(caller, new Set(tags));
    else for (const mark of tags) known.add(mark);
  }

  /**
   * The principals with the most updates count as having updated everything, so that others keep
   * exact records.
   */
  #enforceLimit(): void {
    if (this.#tagsByAuthor.size > this.#maxTags) {
      this.#tagsByAuthor.clear();
      this.#tagsByAuthor.set(ANY_AUTHOR, null);
    }
    const sizeOf = ([, tags]: readonly [string, Set<string> | null]): number => tags?.size ?? 0;
    for (;;) {
      const all = [...this.#tagsByAuthor].toSorted((a, b) => sizeOf(b) - sizeOf(a));
      if (all.reduce((sum, item) => sum + sizeOf(item), 0) <= this.#maxTags) return;
      this.#tagsByAuthor.set(all[0]![0], null);
    }
  }
}
