/** What is promised of a key beyond what all are. */
export interface Promised {
  /**
   * Whether strong views never go back, also between values whose writes did not succeed. False if
   * reads ask one replica, since the others are not repaired then.
   */
  isRepaired(this: void, key: string): boolean;
  /** Whether reads have an early view: not where the final one is of one replica. */
  hasEarlyViews(this: void, key: string): boolean;
}
