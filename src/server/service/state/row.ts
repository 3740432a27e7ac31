/** A row of a table in memory, and as it is saved. */
import type { OrderPosition, SavedPosition } from '../records/effect.ts';
import type { FieldState } from '../fields/field.ts';

export interface Row {
  /**
   * The states of the fields, by the positions of the fields. A field that was never written has
   * none.
   */
  readonly states: (FieldState | undefined)[];
  /**
   * The latest insertion, or write of a field that may be blue. It is kept if rows can be removed.
   */
  writtenAt: OrderPosition | undefined;
  /** Whether a red operation has written the row since its last removal. */
  isRed: boolean;
  /** The period of the changes in which the row was noted last; 0 if never. */
  notedIn: number;
}

/** The rows of a table by key. A `Map` has all of them in memory. */
export interface Rows {
  get(key: string): Row | undefined;
  has(key: string): boolean;
  set(key: string, row: Row): void;
  delete(key: string): void;
}

/**
 * A row as it is saved: its fields, its `Row` properties, and its last removal if rows can be
 * removed. A store has the number of the first part of each field that has parts, too.
 */
export type StoredRow = readonly [
  fields: Readonly<Record<string, unknown>> | null,
  writtenAt?: SavedPosition | null,
  isRed?: boolean,
  removedAt?: SavedPosition | null,
  firstParts?: Readonly<Record<string, number>>,
];
