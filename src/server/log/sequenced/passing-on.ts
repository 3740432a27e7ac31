/**
 * How followers pass on what they have delivered (RB-L6). If the leader is lost, a follower that
 * lacks entries can get them from another one.
 */
import type { MachineSizes } from '../machine-sizes.ts';
import type { SequencedMessage } from './sequenced-messages.ts';

/** In times of `resendAfterMs`: after that, what is lacking is something else. */
const FORGET_ASKED_AFTER = 10;

/** When a follower asks the other followers. */
export class AskTimer {
  readonly #resendAfterMs: number;
  #lastAskedAtMs = -Infinity;

  constructor(resendAfterMs: number) {
    this.#resendAfterMs = resendAfterMs;
  }

  /**
   * Whether to ask now. At first the entries are on their way from the leader, as nearly always.
   */
  isDue(nowMs: number): boolean {
    const sinceMs = nowMs - this.#lastAskedAtMs;
    if (sinceMs < this.#resendAfterMs) return false;
    this.#lastAskedAtMs = nowMs;
    return sinceMs < FORGET_ASKED_AFTER * this.#resendAfterMs;
  }
}

/**
 * Returns the first delivered entry that a follower keeps for others.
 *
 * @param forgotten the number of entries that it has forgotten so far
 */
export function getFirstKept(
  { maxPassedOn, onExceeded }: MachineSizes,
  delivered: number,
  forgotten: number,
): number {
  const first = delivered - maxPassedOn;
  if (first > forgotten) onExceeded?.('maxPassedOn');
  return first;
}

/**
 * Whether a follower has sent these entries: all of them are committed, and the digest of those
 * before is named.
 */
export function isPassedOn<R>({
  position,
  entries,
  committed,
  digest,
}: SequencedMessage<R> & { kind: 'log.append' }): boolean {
  return committed === position + entries.length && digest !== undefined;
}
