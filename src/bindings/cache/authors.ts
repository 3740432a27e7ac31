/**
 * Who has updated what. Weaker levels lag behind an update for as long as they like: whoever made it is never shown them again
 * of what it touched, and nobody else has to wait for it.
 */
import type { Scope } from './scope.ts';
import { digest } from './times.ts';

/** By digest of who it is, `''` for anybody: digests of the marks; `null` for everything. Plain data that JSON keeps. */
export type AuthorsData = readonly (readonly [who: string, marks: readonly string[] | null])[];

const ANYBODY = '';

export class Authors {
  readonly #marksMax: number;
  readonly #marksOf = new Map<string, Set<string> | null>();

  constructor(marksMax: number, data: AuthorsData = []) {
    this.#marksMax = marksMax;
    this.join(data);
  }

  get data(): AuthorsData {
    return Array.from(this.#marksOf, ([who, marks]) => [who, marks && [...marks]] as const);
  }

  /** `who` has updated what is in `scope`; anybody may have, unless given. */
  add(who: string | undefined, scope: Scope): void {
    this.#add(who === undefined ? ANYBODY : digest(who), scope?.map(digest) ?? null);
    this.#bound();
  }

  /** Takes over what was kept of others, too. */
  join(data: AuthorsData): void {
    for (const [who, marks] of data) this.#add(who, marks);
    this.#bound();
  }

  /** Whether `who` has updated, or may have, something with one of these marks. */
  has(who: string, marks: readonly string[]): boolean {
    if (this.#marksOf.size === 0) return false;
    const isTheirs = (one: string): boolean => {
      const theirs = this.#marksOf.get(one);
      return theirs === null || marks.some((mark) => theirs?.has(digest(mark)));
    };
    return isTheirs(ANYBODY) || isTheirs(digest(who));
  }

  #add(who: string, marks: readonly string[] | null): void {
    const known = this.#marksOf.get(who);
    if (known === null) return;
    if (marks === null) this.#marksOf.set(who, null);
    else if (known === undefined) this.#marksOf.set(who, new Set(marks));
    else for (const mark of marks) known.add(mark);
  }

  /** Those who have updated most are the ones who may have updated everything: others are not to suffer for it. */
  #bound(): void {
    if (this.#marksOf.size > this.#marksMax) {
      this.#marksOf.clear();
      this.#marksOf.set(ANYBODY, null);
    }
    const sizeOf = ([, marks]: readonly [string, Set<string> | null]): number => marks?.size ?? 0;
    for (;;) {
      const all = [...this.#marksOf].toSorted((a, b) => sizeOf(b) - sizeOf(a));
      if (all.reduce((sum, each) => sum + sizeOf(each), 0) <= this.#marksMax) return;
      this.#marksOf.set(all[0]![0], null);
    }
  }
}
