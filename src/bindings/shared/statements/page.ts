/** Rows of a result, as the mappers of statements get them. */

/** A row by column names. Its values are plain. */
export type Row = Readonly<Record<string, unknown>>;

/** One page of a result. A result that fits has one page. */
export interface Page {
  readonly rows: readonly Row[];
  /** The position of the next page, in hexadecimal digits; `undefined` on the last one. */
  readonly pageState: string | undefined;
  /** How many rows a write has changed, if the store reports it. */
  readonly changedRows?: number | undefined;
}
