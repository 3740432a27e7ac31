/**
 * Sites whose clock is wild. Stamps lie above all that they depend on, so a stamp that is far ahead
 * would drag every site's clock along: what a site stamps is refused while its clock is far ahead,
 * and taken once that is set right. Judged are clocks as they are now, never the stamps of the
 * past: those may be ahead of any clock that was set back since.
 */
import { HORIZON_MS, MICROS_PER_MS } from '../../records/clock.ts';
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

  /** By how much the own log shows that the own clock is behind; 0 if it does not. */
  #suspectedMs = 0;
  /** Whether the own clock was reported, since most others are ahead of it. */
  #isOwnReported = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /**
   * Begins after a restart. Stamps in the own log that are far ahead of the own clock make it
   * suspect: it may be behind, or another one was ahead in the past.
   */
  begin(nowMs: number, wallMs: number, lastStamp: number): void {
    const lastMs = lastStamp / MICROS_PER_MS;
    const behindMs = lastMs < HORIZON_MS ? lastMs - wallMs : 0;
    if (behindMs > this.#options.maxClockSkewMs) this.#suspectedMs = behindMs;
    this.advance(nowMs, wallMs);
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
    if (this.#suspectedMs > 0) this.#decideSuspicion(sentAtMs - this.#referenceMs);
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
    this.#judgeOwnClock(Math.round(aheadMs));
  }

  /**
   * The first clock of another site that is seen decides. If it is ahead as the stamps are, the own
   * clock is behind, and others are compared with what it should show.
   */
  #decideSuspicion(aheadMs: number): void {
    const { maxClockSkewMs, observer } = this.#options;
    const isBehind = aheadMs > maxClockSkewMs && aheadMs <= this.#suspectedMs + maxClockSkewMs;
    this.#suspectedMs = 0;
    if (!isBehind) return;
    this.#referenceMs += aheadMs;
    observer?.onClockBehind?.(Math.round(aheadMs), 'log');
  }

  /** If most other sites are ahead, the own clock is the one that is wrong. */
  #judgeOwnClock(aheadMs: number): void {
    const { origins, site, observer } = this.#options;
    const otherCount = origins.getOthers(site).length;
    const isBehind = otherCount > 1 && this.#quarantined.size * 2 > otherCount;
    if (isBehind && !this.#isOwnReported) observer?.onClockBehind?.(aheadMs, 'sites');
    this.#isOwnReported = isBehind;
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
