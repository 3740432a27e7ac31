/** What generators and invariants read tables with. */
import type { ScanOptions } from '../records/key-range.ts';
import type { Fields, ScalarIn, Tables, ValueOf } from './tables.ts';
import type { ChosenShadow } from '../records/reply.ts';

/** What a generator can do on its private copy. */
export interface Scratchpad {
  /**
   * Applies a shadow operation to the copy and gives what it would reply: `tables` show it from then on. It is
   * replicated only if it is returned as well.
   */
  apply<R>(chosen: ChosenShadow<R>): R;
  /** Forgets what was applied. */
  discard(): void;
}

/** A row as generators and invariants read it. */
export type RowReader<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** A table as generators read it. */
export interface TableReader<F extends Fields, I extends string = never> {
  /** The row with this primary key; fields of an absent row read as at first. */
  row(key: string): RowReader<F>;
  /** Whether the row exists: something was written to it, or it was inserted, and not removed since. */
  has(key: string): boolean;
  /**
   * The primary keys in order, all or some of them.
   *
   * @example
   * tables.orders.keys({ prefix: `${customer}/`, limit: 10, reverse: true })
   */
  keys(options?: ScanOptions<string>): readonly string[];
  /**
   * The primary keys of rows by the value of an indexed field, in the order of values and then of keys.
   *
   * @example
   * tables.notes.by.owner({ equals: 'ann' })
   */
  readonly by: { readonly [K in I]: (options?: ScanOptions<ScalarIn<ValueOf<F[K]>>>) => readonly string[] };
}

/** All tables as generators read them. */
export type TablesReader<T extends Tables> = {
  readonly [K in keyof T]: TableReader<T[K]['fields'], T[K]['indexes'][number]>;
};
