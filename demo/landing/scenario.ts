/**
 * The state of the store when a visitor opens the page: its distance, and changes that the copy
 * does not have yet.
 */

export interface Scenario {
  /** The round trip to the shop's own server, in milliseconds. */
  readonly distanceMs: number;
  /** Whether the price has changed, and the nearby copy still has the old price. */
  readonly isStale: boolean;
  /** Whether only one item is left, which another customer takes at the same moment. */
  readonly isLastOne: boolean;
  /** Whether the shop's own server cannot be reached. */
  readonly isCut: boolean;
}

export const OLD_PRICE = 20;
export const NEW_PRICE = 18;

/** Returns the true price, which is that of the shop's own server. */
export function truePrice({ isStale }: Pick<Scenario, 'isStale'>): number {
  return isStale ? NEW_PRICE : OLD_PRICE;
}

/**
 * Returns whether click number `n` of `clicks`, counted from 0, meets a stale copy. Such clicks are
 * spread evenly from the second click to the last but one. So visitors see one soon, and a finished
 * run ends with the usual case.
 */
export function isStaleClick(n: number, share: number, clicks: number): boolean {
  const count = Math.round(clicks * share);
  const step = (clicks - 3) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, at) => clicks - 2 - Math.round(at * step)).includes(n);
}
