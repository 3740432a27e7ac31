/** The rows of a site as generators read them, as plain data. */
import type { FieldKindName } from '../../service/fields/field.ts';
import type { BoundedView } from '../../service/fields/ledger.ts';
import type { QueueView } from '../../service/fields/pending-queue.ts';
import { createTablesReader, NO_READ_LISTENER } from '../../service/generator/table-readers.ts';
import type { StateReader } from '../../service/state/store.ts';
import type { TablesReader } from '../../service/readers.ts';
import type { Tables } from '../../service/tables.ts';
import { unreadableError } from '../storage/recovery.ts';

export interface StoredRow {
  readonly key: string;
  /** By name, in the order of the declaration. A field without a value is `undefined`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns a value that a field of the kind shows to generators, as plain data. */
const TO_PLAIN: Readonly<Record<FieldKindName, (value: never) => unknown>> = {
  counter: keep,
  register: keep,
  set: (elements: ReadonlySet<unknown>) => [...elements],
  log: keep,
  cell: keep,
  queue: (items: QueueView) => Array.from({ length: items.size }, (_, index) => items.at(index)),
  stock: keep,
  bounded: ({ value }: BoundedView) => value,
};

function keep(value: unknown): unknown {
  return value;
}

/** @throws CorrectableError `UNAVAILABLE` from each read that finds damage */
export class StoredRows {
  readonly #source: string;
  readonly #tables: Tables;
  readonly #state: StateReader;
  readonly #readers: TablesReader<Tables>;

  /** @param source names the store of rows in errors */
  constructor(source: string, tables: Tables, state: StateReader) {
    this.#source = source;
    this.#tables = tables;
    this.#state = state;
    this.#readers = createTablesReader(tables, state, NO_READ_LISTENER);
  }

  count(table: string): number {
    return this.#try(() => {
      let rows = 0;
      for (const _ of this.#state.scan({ table }, false)) rows += 1;
      return rows;
    });
  }

  /** Returns `undefined` if there is no such row. */
  get(table: string, key: string): StoredRow | undefined {
    return this.#try(() => (this.#state.has(table, key) ? this.#read(table, key) : undefined));
  }

  /** Returns the rows in the order of their keys, from the first key that is not before `from`. */
  *scan(table: string, from?: string): Generator<StoredRow, void, undefined> {
    const range = from === undefined ? { table } : { table, from };
    const entries = this.#try(() => this.#state.scan(range, false)[Symbol.iterator]());
    for (;;) {
      const row = this.#try(() => {
        const { value, done } = entries.next();
        return done === true ? undefined : this.#read(table, value.key);
      });
      if (row === undefined) return;
      yield row;
    }
  }

  /** Runs a read, which may find that the store of rows is damaged. */
  #try<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw unreadableError(`${this.#source}: ${(error as Error).message}`);
    }
  }

  #read(table: string, key: string): StoredRow {
    const row = this.#readers[table]?.row(key) as Readonly<Record<string, unknown>>;
    const fields = Object.entries(this.#tables[table]?.fields ?? {}).map(
      ([name, { kind }]) => [name, TO_PLAIN[kind](row[name] as never)] as const,
    );
    return { key, fields: Object.fromEntries(fields) };
  }
}
