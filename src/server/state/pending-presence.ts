/** Whether a row exists with effects in flight laid over it. */

interface Change {
  readonly owner: number;
  readonly isThere: boolean;
}

const NONE: Change[] = [];

/** Pending writes, insertions and removals of one row, in order, each owned by an operation. */
export class PendingPresence {
  readonly #removable: boolean;
  /** In a table whose rows can be removed. */
  #changes: Change[] = NONE;
  /** Where rows are never removed, all that matters is how many write. */
  #writes = 0;

  constructor(removable: boolean) {
    this.#removable = removable;
  }

  get size(): number {
    return this.#removable ? this.#changes.length : this.#writes;
  }

  append(owner: number, isThere: boolean): void {
    if (!this.#removable) this.#writes += 1;
    else if (this.#changes === NONE) this.#changes = [{ owner, isThere }];
    else this.#changes.push({ owner, isThere });
  }

  /** To be called for each change of the owner, one after the other. */
  remove(owner: number): void {
    if (!this.#removable) {
      this.#writes -= 1;
      return;
    }
    let first = 0;
    while (this.#changes[first]?.owner === owner) first += 1;
    if (first > 0) this.#changes.splice(0, first);
    else this.#changes = this.#changes.filter((change) => change.owner !== owner);
  }

  /** Whether the row exists, given whether it does below. */
  over(isBelow: () => boolean): boolean {
    if (!this.#removable) return this.#writes > 0 || isBelow();
    return this.#changes.at(-1)?.isThere ?? isBelow();
  }
}
