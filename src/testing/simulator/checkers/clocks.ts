/**
 * Checks that a wild clock affects no other site: while it is far ahead of the others, they show
 * none of its stamps.
 *
 * The exception is a site that has started with a clock that was set back (RB-Q2). It can get the
 * time from other sites only, and the first one may be the one with the wild clock. Other sites may
 * show the blue operations that this site has accepted and passed on, and red ones, as it may lead
 * their log.
 *
 * The stamps of such a site are then as far ahead as those of the wild clock. A site that has these
 * stamps in its log doubts its own clock at its next start, although that clock is right. It is the
 * same exception.
 */
import { MICROS_PER_MS } from '../../../server/log/clock.ts';
import type { Origin } from '../../../server/service/records/origin.ts';
import type { BlueOperation, OperationId } from '../../../server/service/records/records.ts';
import { isRed, assertProperty, type AnyOperation, type Checker } from './checker.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { Envelope } from '../../../server/site/wire/envelope.ts';

export interface SiteWithClock {
  readonly origin: Origin;
  readonly clock: SimulatedClock;
}

export class ClockChecker implements Checker {
  readonly name = 'clocks';
  readonly #sites: readonly SiteWithClock[];
  readonly #maxSkewMs: number;
  /**
   * The sites whose present start began with a clock that was set back, or with a log whose stamps
   * are as far ahead of it.
   */
  readonly #startedBehind = new Set<Origin>();
  /** By site: the highest stamp of another site in its log, in milliseconds. */
  readonly #highestReceivedMs = new Map<Origin, number>();
  /** The operations that these sites have received or shown. */
  readonly #passedOn = new Set<OperationId>();

  /** @param sites the array of all sites, to which more may be added later */
  constructor(sites: readonly SiteWithClock[], maxSkewMs: number) {
    this.#sites = sites;
    this.#maxSkewMs = maxSkewMs;
  }

  onStarted(site: Origin): void {
    const clock = this.#sites.find(({ origin }) => origin === site)?.clock;
    if (clock === undefined) return;
    const latestKnownMs = Math.max(
      clock.highestWallMs,
      this.#highestReceivedMs.get(site) ?? -Infinity,
    );
    const behindMs = latestKnownMs - clock.wallMs;
    if (behindMs > this.#maxSkewMs) this.#startedBehind.add(site);
    else this.#startedBehind.delete(site);
  }

  /**
   * A site that has started behind passes on what it accepts, and may crash before it shows that.
   */
  onMessageAccepted(site: Origin, { message }: Envelope): void {
    if (message.kind !== 'blue.operations') return;
    for (const operation of message.operations) {
      this.#noteReceived(site, operation);
      if (this.#startedBehind.has(site)) this.#passedOn.add(operation.id);
    }
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    // A site accepts its own stamps, and shows at a start what it had accepted before.
    if (operation.site === site) return;
    if (!isRed(operation)) this.#noteReceived(site, operation);
    if (this.#startedBehind.has(site)) this.#passedOn.add(operation.id);
    if (this.#passedOn.has(operation.id)) return;

    const author = this.#sites.find(({ origin }) => origin === operation.site);
    const others = this.#sites.filter((other) => other !== author);
    const mayLeadBehind = others.some(({ origin }) => this.#startedBehind.has(origin));
    if (isRed(operation) && mayLeadBehind) return;
    const limitMs = Math.max(...others.map(({ clock }) => clock.highestWallMs)) + this.#maxSkewMs;
    // If its clock was set right since, sites accept what it had stamped.
    if ((author?.clock.wallMs ?? Infinity) <= limitMs) return;
    const aheadMs = Math.round(getStampMs(operation) - limitMs);
    assertProperty(
      aheadMs <= 0,
      () =>
        `site ${site} shows ${operation.id} of site ${operation.site}, ${aheadMs} ms beyond what a clock may be ahead`,
    );
  }

  #noteReceived(site: Origin, operation: BlueOperation): void {
    const highestMs = this.#highestReceivedMs.get(site) ?? -Infinity;
    const stampMs = getStampMs(operation);
    this.#highestReceivedMs.set(site, Math.max(highestMs, stampMs));
  }
}

function getStampMs(operation: AnyOperation): number {
  const stamp = isRed(operation) ? operation.clock : (operation.vector[operation.site] ?? 0);
  return stamp / MICROS_PER_MS;
}

/**
 * Checks that a site accepts nothing of an earlier start of another site once it has accepted
 * something of a later one.
 */
export class TermChecker implements Checker {
  readonly name = 'terms';
  /** The latest accepted term by receiver, its start, and sender. */
  readonly #latest = new Map<string, number>();

  onMessageAccepted(site: Origin, { from, term, message }: Envelope, start: number): void {
    // Any start of a site sends this message, accepted or not.
    if (message.kind === 'term.superseded') return;
    const key = `${site}:${start}:${from.site}`;
    const latest = this.#latest.get(key) ?? 0;
    assertProperty(
      term >= latest,
      () =>
        `site ${site} took ${message.kind} of term ${term} from site ${from.site}, and had taken something of ${latest}`,
    );
    this.#latest.set(key, term);
  }
}
