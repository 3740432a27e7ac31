/** The readers with which generators and invariants read tables. */
import type { ScanOptions } from './records/read-range.ts';
import type { ValueOf } from './fields/field-declaration.ts';
import type { Fields, ScalarIn, Tables } from './tables.ts';
import type { ChosenShadow } from './records/reply.ts';

/** A generator's private copy of the snapshot. */
export interface Scratchpad {
  /**
   * Applies a shadow operation to the copy and returns its reply. From then on `tables` shows the
   * change. To replicate it, return the shadow operation as well.
   */
  apply<R>(chosen: ChosenShadow<R>): R;
  /** Discards all changes of the copy. */
  discard(): void;
}

/** A row as generators and invariants read it. */
export type RowReader<F extends Fields> = {
  readonly [K in keyof F]: ValueOf<F[K]>;
};

/** A table, as generators read it. */
export interface TableReader<F extends Fields, I extends string = never> {
  /**
   * Returns the row with this primary key. The fields of an absent row have their initial values.
   */
  row(key: string): RowReader<F>;
  /**
   * Returns whether the row exists: an operation wrote to it or inserted it, and none has removed
   * it since.
   */
  has(key: string): boolean;
  /**
   * Returns the primary keys in order, all or some of them.
   *
   * @example
   * tables.orders.keys({ prefix: `${customer}/`, limit: 10, reverse: true })
   */
  keys(options?: ScanOptions<string>): readonly string[];
  /**
   * Looks up rows by the value of an indexed field. Returns primary keys in the order of values,
   * then of keys.
   *
   * @example
   * tables.notes.by.owner({ equals: 'ann' })
   */
  readonly by: {
    readonly [K in I]: (options?: ScanOptions<ScalarIn<ValueOf<F[K]>>>) => readonly string[];
  };
}

/** All tables, as generators read them. */
export type TablesReader<T extends Tables> = {
  readonly [K in keyof T]: TableReader<T[K]['fields'], T[K]['indexes'][number]>;
};
