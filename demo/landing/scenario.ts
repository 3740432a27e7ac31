/** The state of the store when a visitor opens the page: its distance, and changes that the copy does not have yet. */

export interface Scenario {
  /** The round trip to the shop's own server, in milliseconds. */
  readonly distanceMs: number;
  /** Whether the price has changed, and the copy close by still has the old one. */
  readonly isStale: boolean;
  /** Whether one is left, which another customer takes at the same moment. */
  readonly isLastOne: boolean;
  /** Whether the shop's own server cannot be reached. */
  readonly isCut: boolean;
}

export const OLD_PRICE = 20;
export const NEW_PRICE = 18;

/** The price that counts. */
export function truePrice({ isStale }: Pick<Scenario, 'isStale'>): number {
  return isStale ? NEW_PRICE : OLD_PRICE;
}

/**
 * Returns whether click number `n` of `clicks`, counted from 0, meets a stale copy. They are spread evenly from the second
 * click to the last one: visitors see one soon, and the page of a finished run shows one.
 */
export function isStaleClick(n: number, share: number, clicks: number): boolean {
  const count = Math.round(clicks * share);
  const step = (clicks - 2) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, at) => clicks - 1 - Math.round(at * step)).includes(n);
}
