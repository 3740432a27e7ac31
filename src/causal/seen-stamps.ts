/**
 * The own stamps of a partition that a gateway has seen (CAUSAL-13).
 *
 * The highest one alone is not enough: a gateway may see a write from after a heal before it learns
 * of the heal. It must then still know what it had seen before.
 */
import type { Stamp } from './stamps.ts';

/** Of the stamps of one interval, only the last one is kept. No heal is as short as that. */
const INTERVAL = 1_000;
/** Some seconds of writes in each interval. The older half is dropped when there are more. */
const MAX_KEPT = 8_192;

export class SeenStamps {
  /** In ascending order, never empty. */
  #kept: Stamp[] = [0];

  get highest(): Stamp {
    return this.#kept.at(-1) as Stamp;
  }

  note(stamp: Stamp): void {
    const { highest } = this;
    if (stamp <= highest) return;
    if (Math.floor(stamp / INTERVAL) === Math.floor(highest / INTERVAL)) this.#kept.pop();
    this.#kept.push(stamp);
    if (this.#kept.length > MAX_KEPT) this.#kept.splice(0, MAX_KEPT / 2);
  }

  /** Returns the highest stamp that was seen and is not above `limit`, or 0. */
  findUpTo(limit: Stamp): Stamp {
    return this.#kept.findLast((stamp) => stamp <= limit) ?? 0;
  }

  /** Forgets what was seen up to `limit`, and begins again with `stamp`. */
  restart(limit: Stamp, stamp: Stamp): void {
    this.#kept = [stamp, ...this.#kept.filter((seen) => seen > Math.max(limit, stamp))];
  }
}
