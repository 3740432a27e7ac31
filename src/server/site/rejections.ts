/** How often a site's red operations were rejected by certification, by what they met. */
import type { Conflict } from '../records/verdict.ts';
import type { Origin } from '../records/origin.ts';
import type { ReplicaObserver } from '../replica/core/replica-port.ts';

/**
 * How many, by reason: a field or row that was read, an interval that was scanned, one that it stood on and was rejected
 * itself, a snapshot older than the window.
 */
export type Rejections = Readonly<Record<Conflict['reason'], number>>;

/** Counts those that `site` itself proposed: every site sees the rejections of all. */
export class RejectionCounter {
  readonly #counts = { name: 0, range: 0, predecessor: 0, window: 0 };
  readonly rejected: NonNullable<ReplicaObserver['rejected']>;

  constructor(site: Origin) {
    this.rejected = (operation, conflict) => {
      if (operation.site === site && conflict !== undefined) this.#counts[conflict.reason] += 1;
    };
  }

  get counts(): Rejections {
    return { ...this.#counts };
  }
}
