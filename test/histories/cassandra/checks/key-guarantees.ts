/** What is promised of a key beyond what all are. */
export interface Promised {
  /**
   * Whether strong views never go back, also between values that nobody was told to be made: not where reads ask one replica,
   * since nobody repairs the others.
   */
  isRepaired(this: void, key: string): boolean;
  /** Whether reads have an early view: not where the final one is of one replica. */
  hasEarlyViews(this: void, key: string): boolean;
}
