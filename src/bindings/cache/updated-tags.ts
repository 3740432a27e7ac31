/**
 * Who has updated what: at weaker levels, an author never sees the old value
 * again. Other principals need not wait.
 */
import type { TagScope } from './tags.ts';
import { hashTag } from './tag-timestamps.ts';

/**
 * By digest of who it is, `''` for anybody: digests of the marks; `null` for
 * everything. Plain data that JSON keeps.
 */
export type WriteAuthorsData = readonly (readonly [
  who: string,
  marks: readonly string[] | null,
])[];

const ANY_AUTHOR = '';

export class WriteAuthors {
  readonly #maxTags: number;
  readonly #tagsByAuthor = new Map<string, Set<string> | null>();

  constructor(maxMarks: number, data: WriteAuthorsData = []) {
    this.#maxTags = maxMarks;
    this.merge(data);
  }

  get data(): WriteAuthorsData {
    return Array.from(
      this.#tagsByAuthor,
      ([caller, marks]) => [caller, marks && [...marks]] as const,
    );
  }

  /** `who` has updated what is in `scope`; anybody may have, unless given. */
  add(caller: string | undefined, scope: TagScope): void {
    this.#add(
      caller === undefined ? ANY_AUTHOR : hashTag(caller),
      scope?.map(hashTag) ?? null,
    );
    this.#enforceLimit();
  }

  /** Takes over what was kept of others, too. */
  merge(data: WriteAuthorsData): void {
    for (const [caller, marks] of data) this.#add(caller, marks);
    this.#enforceLimit();
  }

  /**
   * Whether `who` has updated, or may have, something with one of these marks.
   */
  has(caller: string, marks: readonly string[]): boolean {
    if (this.#tagsByAuthor.size === 0) return false;
    const isTheirs = (item: string): boolean => {
      const theirs = this.#tagsByAuthor.get(item);
      return (
        theirs === null || marks.some((mark) => theirs?.has(hashTag(mark)))
      );
    };
    return isTheirs(ANY_AUTHOR) || isTheirs(hashTag(caller));
  }

  #add(caller: string, marks: readonly string[] | null): void {
    const known = this.#tagsByAuthor.get(caller);
    if (known === null) return;
    if (marks === null) this.#tagsByAuthor.set(caller, null);
    else if (known === undefined)
      this.#tagsByAuthor.set(caller, new Set(marks));
    else for (const mark of marks) known.add(mark);
  }

  /**
   * Those who have updated most are the ones who may have updated everything:
   * others are not to suffer for it.
   */
  #enforceLimit(): void {
    if (this.#tagsByAuthor.size > this.#maxTags) {
      this.#tagsByAuthor.clear();
      this.#tagsByAuthor.set(ANY_AUTHOR, null);
    }
    const sizeOf = ([, marks]: readonly [string, Set<string> | null]): number =>
      marks?.size ?? 0;
    for (;;) {
      const all = [...this.#tagsByAuthor].toSorted(
        (a, b) => sizeOf(b) - sizeOf(a),
      );
      if (all.reduce((sum, item) => sum + sizeOf(item), 0) <= this.#maxTags)
        return;
      this.#tagsByAuthor.set(all[0]![0], null);
    }
  }
}
