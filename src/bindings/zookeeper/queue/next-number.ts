/**
 * The number of a node's next child, computed from all replies so far. A recreated node, recognized
 * by its czxid, counts from 0.
 */

/** The fields of a node's stat that count its children. */
export interface ChildCounters {
  readonly czxid: bigint;
  readonly cversion: number;
  readonly numChildren: number;
}

export class NextNumber {
  /** The transaction that created the node. */
  #czxid = 0n;
  #isGone = false;
  /**
   * The number as far as it is known. `undefined` before the first reply, and after the deletion of
   * the node.
   */
  value: number | undefined;

  /** Handles a reply, or `null` if there is no node. Returns whether the node was recreated. */
  observeStat(stat: ChildCounters | null): boolean {
    if (stat === null || this.#isStale(stat)) {
      this.value ??= 0;
      return false;
    }
    const isRecreated = this.#czxid !== 0n && stat.czxid !== this.#czxid;
    this.value = isRecreated
      ? computeNextNumber(stat)
      : Math.max(computeNextNumber(stat), this.value ?? 0);
    this.#czxid = stat.czxid;
    this.#isGone = false;
    return isRecreated;
  }

  /** Notes that an own child got the number before this one. */
  advanceTo(number: number): void {
    this.value = Math.max(number, this.value ?? 0);
  }

  /**
   * Notes that the node was deleted. Replies of servers that still have it do not count any more.
   */
  reset(): void {
    this.#isGone = true;
    this.value = undefined;
  }

  /** Forgets all replies: the next one counts, whatever it is. */
  restart(): void {
    this.#czxid = 0n;
    this.#isGone = false;
    this.value = undefined;
  }

  #isStale({ czxid }: ChildCounters): boolean {
    return this.#isGone ? czxid <= this.#czxid : czxid < this.#czxid;
  }
}

/**
 * Computes (cversion + numChildren) / 2. The cversion counts creations and deletions, in 32 bits.
 */
export function computeNextNumber(stat: Omit<ChildCounters, 'czxid'> | null): number {
  return stat === null ? 0 : ((stat.cversion + stat.numChildren) | 0) >>> 1;
}
