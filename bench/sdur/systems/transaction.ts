/** Transactions over partitions, as servers certify them. */

/** The part of a transaction in one partition. */
export interface Part {
  readonly partition: number;
  /** How many transactions had ended at the server where it was read, at that moment. */
  readonly snapshot: number;
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

export interface Transaction {
  /** No other transaction has it. Rows have the name of the last writer as their value. */
  readonly name: number;
  /** One for each partition with rows of it. */
  readonly parts: readonly Part[];
}

/** Returns whether the transaction is in several partitions. */
export function isGlobal({ parts }: Transaction): boolean {
  return parts.length > 1;
}

/** Returns the rows of the part. One that is read and written may be there twice. */
export function listRows({ reads, writes }: Part): readonly number[] {
  return reads === writes ? reads : [...reads, ...writes];
}

/**
 * Returns whether two lists of rows have one in common. They are short, and this runs for each pair
 * of transactions.
 */
export function intersects(rows: readonly number[], others: readonly number[]): boolean {
  for (const row of rows) if (others.includes(row)) return true;
  return false;
}

/** Returns whether one of them writes what the other reads or writes. */
export function overlaps(part: Part, other: Part): boolean {
  return (
    intersects(part.writes, other.writes) ||
    intersects(part.writes, other.reads) ||
    intersects(part.reads, other.writes)
  );
}
