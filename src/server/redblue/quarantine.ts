/**
 * Sites whose clock is wild. Stamps lie above all that they depend on, so a stamp that is far ahead would drag every
 * site's clock along: what carries one is refused until the time has come, or close to it.
 */
import type { ReplicaOptions } from './replica-port.ts';

const MICROS_PER_MS = 1000;

/** Which sites are in quarantine, as this one sees it. */
export class Quarantine {
  readonly #options: ReplicaOptions;
  readonly #quarantined = new Set<number>();

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /** Whether a stamp of `peer` is close enough to the clock here; tells the observer when that changes. */
  accepts(peer: number, stamp: number, nowMs: number): boolean {
    const { maxClockSkewMs, observer } = this.#options;
    const aheadMs = stamp / MICROS_PER_MS - nowMs;
    const isAccepted = aheadMs <= maxClockSkewMs;
    if (isAccepted !== this.#quarantined.has(peer)) return isAccepted;
    if (isAccepted) {
      this.#quarantined.delete(peer);
      observer?.released?.(peer);
    } else {
      this.#quarantined.add(peer);
      observer?.quarantined?.(peer, Math.round(aheadMs));
    }
    return isAccepted;
  }
}
