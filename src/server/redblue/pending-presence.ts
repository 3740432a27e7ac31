/** Whether a row exists with effects in flight laid over it. */

interface Change {
  readonly owner: number;
  readonly isThere: boolean;
}

/** Pending writes, insertions and removals of one row, in order, each owned by an operation. */
export class PendingPresence {
  readonly #removable: boolean;
  #changes: Change[] = [];
  /** Where rows are never removed, all that matters is who writes. */
  readonly #writers = new Set<number>();

  constructor(removable: boolean) {
    this.#removable = removable;
  }

  get size(): number {
    return this.#removable ? this.#changes.length : this.#writers.size;
  }

  append(owner: number, isThere: boolean): void {
    if (this.#removable) this.#changes.push({ owner, isThere });
    else this.#writers.add(owner);
  }

  remove(owner: number): void {
    if (!this.#removable) {
      this.#writers.delete(owner);
      return;
    }
    let first = 0;
    while (this.#changes[first]?.owner === owner) first += 1;
    if (first > 0) this.#changes.splice(0, first);
    else this.#changes = this.#changes.filter((change) => change.owner !== owner);
  }

  /** Whether the row exists, given whether it does below. */
  over(isBelow: () => boolean): boolean {
    if (!this.#removable) return this.#writers.size > 0 || isBelow();
    return this.#changes.at(-1)?.isThere ?? isBelow();
  }
}
