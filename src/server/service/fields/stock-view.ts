/** What services see of a stock: what its effects yield. */

/** What a `take` did. */
export interface Taken {
  /** Whether it took all that it was to take; else it took nothing. */
  readonly took: boolean;
  /** What is left after it. */
  readonly remaining: number;
}

/** What an `add` left. */
export interface Stocked {
  readonly remaining: number;
}

/** How far a `take` may go. */
export interface TakeOptions {
  /** What has to be left: where less would be, nothing is taken. A whole number, 0 unless given. */
  readonly atLeast?: number;
}
