/**
 * A wild clock drags no site along: while it is far ahead of the others, they
 * show no stamp of it.
 */
import { MICROS_PER_MS } from '../../../server/records/clock.ts';
import type { Origin } from '../../../server/records/origin.ts';
import {
  isRed,
  assertProperty,
  type AnyOperation,
  type Checker,
} from './checker.ts';
import type { Envelope } from '../../../server/messages/envelope.ts';

export interface SiteClock {
  readonly origin: Origin;
  readonly wallMs: number;
  /** What it would show now, had it never been set back. */
  readonly highestWallMs: number;
}

export class ClockChecker implements Checker {
  readonly name = 'clocks';
  readonly #clocks: readonly SiteClock[];
  readonly #maxSkewMs: number;

  /** @param clocks they may be added later */
  constructor(clocks: readonly SiteClock[], skewMaxMs: number) {
    this.#clocks = clocks;
    this.#maxSkewMs = skewMaxMs;
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    // A site believes itself, and shows again at a start what it had taken in
    // before.
    if (operation.site === site) return;
    const clock = this.#clocks.find(({ origin }) => origin === operation.site);
    const others = this.#clocks.filter((other) => other !== clock);
    const limitMs =
      Math.max(...others.map(({ highestWallMs }) => highestWallMs)) +
      this.#maxSkewMs;
    // Its clock was set right since: then what it had stamped is taken.
    if ((clock?.wallMs ?? Infinity) <= limitMs) return;
    const stamp = isRed(operation)
      ? operation.clock
      : (operation.vector[operation.site] ?? 0);
    const aheadMs = Math.round(stamp / MICROS_PER_MS - limitMs);
    assertProperty(
      aheadMs <= 0,
      () =>
        `site ${site} shows ${operation.id} of site ${operation.site}, ${aheadMs} ms beyond what a clock may be ahead`,
    );
  }
}

/**
 * A site takes nothing of an earlier start of another one, once it has taken
 * something of a later.
 */
export class TermChecker implements Checker {
  readonly name = 'terms';
  /**
   * By receiver, its start, and sender: the latest term of which something was
   * taken.
   */
  readonly #latest = new Map<string, number>();

  onMessageAccepted(
    site: Origin,
    { from, term, message }: Envelope,
    start: number,
  ): void {
    // Said by any start of a site, accepted or not.
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
