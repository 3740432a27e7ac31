/**
 * Sites whose clock is wild. Stamps lie above all that they depend on, so a stamp that is far ahead
 * would drag every site's clock along: what a site stamps is refused while its clock is far ahead,
 * and taken once that is set right. Judged are clocks as they are now, never the stamps of the
 * past: those may be ahead of any clock that was set back since.
 */
import { MICROS_PER_MS } from '../../records/clock.ts';
import type { Origin } from '../../records/origin.ts';
import type { ReplicaOptions } from './replica-port.ts';

export class ClockQuarantine {
  readonly #options: ReplicaOptions;
  readonly #quarantined = new Set<Origin>();
  /**
   * The clock to compare others with. It never goes back: a site whose own clock is behind would
   * reject all others.
   */
  #referenceMs = -Infinity;
  #referenceAtMs = 0;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  advance(nowMs: number, wallMs: number): void {
    this.#referenceMs = Math.max(wallMs, this.#referenceMs + (nowMs - this.#referenceAtMs));
    this.#referenceAtMs = nowMs;
  }

  /**
   * A message of `peer` was sent when its clock showed `sentAtMs`; tells the observer when its
   * quarantine changes.
   */
  noteClock(peer: Origin, sentAtMs: number): void {
    const { maxClockSkewMs, observer } = this.#options;
    const aheadMs = sentAtMs - this.#referenceMs;
    const isWild = aheadMs > maxClockSkewMs;
    if (isWild === this.#quarantined.has(peer)) return;
    if (isWild) {
      this.#quarantined.add(peer);
      observer?.onQuarantined?.(peer, Math.round(aheadMs));
    } else {
      this.#quarantined.delete(peer);
      observer?.onReleased?.(peer);
    }
  }

  /**
   * Whether a stamp that comes from `peer` itself may be taken: what it stamped before its clock
   * went wild may.
   */
  acceptsStampsFrom(peer: Origin, stamp: number): boolean {
    if (!this.#quarantined.has(peer)) return true;
    return stamp / MICROS_PER_MS - this.#referenceMs <= this.#options.maxClockSkewMs;
  }
}
