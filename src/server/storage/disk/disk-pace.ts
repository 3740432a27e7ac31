/** How quick a disk has been of late: whether a thread that has other work may wait for it. */

/** About what the work of one frame of operations takes: so long the others wait now and then anyway. */
const QUICK_MS = 1;
/** Of what the slowest recent write took: one that took 10 ms is forgotten after 22 others, one of 100 ms after 44. */
const KEPT_SHARE = 0.9;

/** Measures the writes to a disk. */
export class DiskPace {
  readonly #now: () => number;
  #recentMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether no recent write took long. */
  get isQuick(): boolean {
    return this.#recentMs <= QUICK_MS;
  }

  /** A write begins: what `end` is to be called with. */
  begin(): number {
    return this.#now();
  }

  end(begunAtMs: number): void {
    this.#recentMs = Math.max(this.#now() - begunAtMs, this.#recentMs * KEPT_SHARE);
  }
}
