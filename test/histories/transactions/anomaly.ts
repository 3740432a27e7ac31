/** What a history shows that no strictly serializable store can do. Names as in Adya and Elle. */
export type AnomalyName =
  /** Writes of two transactions in opposite orders. */
  | 'G0'
  /** A read of an aborted transaction. */
  | 'G1a'
  /** A read of a transaction that was not finished. */
  | 'G1b'
  /** Each of two transactions saw the other. */
  | 'G1c'
  /** A transaction missed one write, and saw or overwrote its effects: lost update, read skew. */
  | 'G-single'
  /** Each of two or more transactions missed a write of the next: write skew. */
  | 'G2'
  /** A cycle that only the order in real time closes, such as a stale read. */
  | 'realtime'
  /** A committed append that a later read does not show. */
  | 'lost append'
  /** An append that was applied twice. */
  | 'duplicate element'
  /** Two reads that no single order of appends explains. */
  | 'incompatible orders'
  /** A read that contradicts what the same transaction read or appended before. */
  | 'internal'
  /** A read of what no transaction appended. */
  | 'unwritten element';

export interface Anomaly {
  readonly name: AnomalyName;
  /** The identifiers of the transactions that show it. */
  readonly transactions: readonly string[];
  readonly explanation: string;
}
