/**
 * Sites whose clocks are far ahead. A stamp lies above all that it depends on, so a stamp that is
 * far ahead would drag the clocks of all sites along. Therefore the stamps of a site are refused
 * while its clock is far ahead, and taken once the clock is set right. Only the present clocks
 * count, and no stamps of the past: those may be ahead of a clock that was set back since.
 */
import { HORIZON_MS, MICROS_PER_MS } from '../../log/clock.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { Vector } from '../../service/records/vector.ts';
import type { PartOptions } from './site-core.ts';

export class ClockQuarantine {
  readonly #options: PartOptions;
  readonly #quarantined = new Set<Origin>();
  /**
   * The clock to compare others with. It never goes back: a site whose own clock is behind would
   * reject all others.
   */
  #referenceMs = -Infinity;
  #referenceAtMs = 0;

  /**
   * The number by which the stamps of each origin in the own log are too far ahead of the own
   * clock. It is `undefined` if none is, or once the clock of another site has decided.
   */
  #stampsAheadMs: readonly number[] | undefined;
  /** Whether the site has reported that most other clocks are ahead of its own. */
  #isOwnReported = false;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  /**
   * Begins after a restart. If stamps in the own log are far ahead of the own clock, that clock is
   * suspect: it may be behind, or another one was ahead in the past.
   *
   * @param lastStamps the last one of each origin. Those of red logs do not count, since any site
   * may have chosen them.
   */
  begin(nowMs: number, wallMs: number, lastStamps: Vector): void {
    const { maxClockSkewMs, origins } = this.#options;
    const aheadMs = lastStamps.map((stamp, origin) => {
      const stampMs = stamp / MICROS_PER_MS;
      const doesCount = !origins.isLog(origin) && stampMs < HORIZON_MS;
      return doesCount && stampMs - wallMs > maxClockSkewMs ? stampMs - wallMs : 0;
    });
    this.#stampsAheadMs = aheadMs.some((ms) => ms > 0) ? aheadMs : undefined;
    this.advance(nowMs, wallMs);
  }

  advance(nowMs: number, wallMs: number): void {
    this.#referenceMs = Math.max(wallMs, this.#referenceMs + (nowMs - this.#referenceAtMs));
    this.#referenceAtMs = nowMs;
  }

  /**
   * A message of `peer` was sent when its clock showed `sentAtMs`. Notifies the observer if its
   * quarantine changes.
   */
  noteClock(peer: Origin, sentAtMs: number): void {
    const { maxClockSkewMs, observer } = this.#options;
    this.#decideSuspicion(peer, sentAtMs - this.#referenceMs);
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
   * A clock that agrees with the own one ends the suspicion. If a clock is ahead as far as the
   * stamps of other origins are, the own clock is behind, and other clocks are compared with the
   * time that it should show. The stamps of the peer itself do not count: if its clock is wrong,
   * both are ahead. A site that began with the state of such a peer has those stamps.
   */
  #decideSuspicion(peer: Origin, aheadMs: number): void {
    const { maxClockSkewMs, observer } = this.#options;
    if (this.#stampsAheadMs === undefined) return;
    const isAhead = aheadMs > maxClockSkewMs;
    const isShown = this.#stampsAheadMs.some(
      (ms, origin) => origin !== peer && aheadMs <= ms + maxClockSkewMs,
    );
    if (isAhead && !isShown) return;
    this.#stampsAheadMs = undefined;
    if (!isAhead) return;
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
   * Whether a stamp that comes from `peer` itself may be taken. Stamps from before its clock went
   * wrong may be.
   */
  acceptsStampsFrom(peer: Origin, stamp: number): boolean {
    if (!this.#quarantined.has(peer)) return true;
    return stamp / MICROS_PER_MS - this.#referenceMs <= this.#options.maxClockSkewMs;
  }
}
