/**
 * The number of a node's next child, from all answers so far. A recreated node,
 * seen by its czxid, counts from 0.
 */
import type { Stat } from '../client/stat-and-acl.ts';

export type ChildCounters = Pick<Stat, 'czxid' | 'cversion' | 'numChildren'>;

export class NextNumber {
  /** The transaction that made the node which is counted. */
  #czxid = 0n;
  #isGone = false;
  /**
   * As far as it is known; undefined before the first answer, and after the end
   * of the node.
   */
  value: number | undefined;

  /**
   * Takes an answer in, `null` if there is no node. Returns whether it is about
   * a node that was made again.
   */
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

  /** One of our own was given the number before this one. */
  advanceTo(number: number): void {
    this.value = Math.max(number, this.value ?? 0);
  }

  /**
   * The node is gone: answers of servers that still have it say nothing any
   * more.
   */
  reset(): void {
    this.#isGone = true;
    this.value = undefined;
  }

  #isStale({ czxid }: ChildCounters): boolean {
    return this.#isGone ? czxid <= this.#czxid : czxid < this.#czxid;
  }
}

/**
 * (cversion + numChildren) / 2: cversion counts creations and deletions, in 32
 * bits.
 */
export function computeNextNumber(
  stat: Omit<ChildCounters, 'czxid'> | null,
): number {
  return stat === null ? 0 : ((stat.cversion + stat.numChildren) | 0) >>> 1;
}
