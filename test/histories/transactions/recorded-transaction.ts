/**
 * Histories of transactions on lists (list-append, as in Elle, VLDB 2020). A read of a list shows
 * the order of all appends before it, so the order of versions needs no guess.
 */

/** Unique for each key: no two appends of a history add the same element to the same key. */
export type Element = string | number;

export type ListOperation =
  | { readonly append: readonly [key: string, element: Element] }
  | { readonly read: readonly [key: string, list: readonly Element[]] };

export interface RecordedTransaction {
  readonly id: string;
  /** The client: it runs one transaction at a time. */
  readonly process: string;
  /** Milliseconds of one clock that never goes back. */
  readonly startAt: number;
  /** When the client got the outcome. Not used if the outcome is `unknown`. */
  readonly endAt: number;
  readonly outcome: 'committed' | 'aborted' | 'unknown';
  /** In the order in which the transaction did them. */
  readonly operations: readonly ListOperation[];
  /**
   * Whether all reads are of one state, which may be an old one. Such a transaction has no place in
   * real time. It only reads.
   */
  readonly isSnapshot?: boolean;
}
