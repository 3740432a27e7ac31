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

/** Returns whether click number `n`, counted from 0, meets a stale copy: spread evenly, so that each run has its share. */
export function isStaleClick(n: number, share: number): boolean {
  const before = (clicks: number): number => Math.floor(clicks * share + 0.5);
  return before(n + 1) > before(n);
}
