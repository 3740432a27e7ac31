/**
 * The faults that every binding of a store is tried with: the rows of the matrix. A row is a kind
 * of fault, not one program that once failed. The page "What happens when a store fails" has them
 * in this order.
 */
export const FAULTS = {
  killed: 'The process of the server is killed, and starts again',
  frozen: 'The server is frozen for 30 seconds, and goes on',
  cut: 'Connections are cut without a word, in both directions',
  halfOpen: 'Answers no longer arrive, and the connection stays open',
  demoted: 'The primary is demoted, and its address still leads to it',
  promoted: 'A replica is promoted, and the old primary still runs',
  moved: 'The name of the server leads to another server',
  crashed: 'A crash loses what was not acknowledged',
  restored: 'The data is made again, or restored from a backup',
  credentials: 'A password, a certificate or a role is changed',
  connections: 'The server accepts no more connections',
  space: 'The server is out of memory or of disk',
  readOnly: 'The server accepts no writes',
  migration: 'A migration changes the schema',
  foreignValue: 'Another program has written a value or a row',
  parsers: 'Another library has set a type parser or an option',
  callerLeaves: 'The caller leaves at each step of each exchange',
} as const;

export type Fault = keyof typeof FAULTS;

/** What the page says of a fault at one store. */
export interface Cell {
  /**
   * What a caller gets while the fault lasts: views, error codes, whether data may have changed.
   */
  readonly meanwhile: string;
  /** How the binding works again, and how soon after the cause is gone. */
  readonly recovery: string;
}

/** Why a store cannot have the fault. */
export interface NoCell {
  readonly absentBecause: string;
}

/** The cells of one store. */
export interface Column {
  /** The name in the page, such as `PostgreSQL`. */
  readonly store: string;
  /** The page of the binding, from `docs`. */
  readonly page: string;
  readonly cells: Readonly<Record<Fault, Cell | NoCell>>;
}
