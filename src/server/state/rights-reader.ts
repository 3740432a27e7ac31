/** A state as the generators of one site read it: of bounded fields they see what that site may take by itself. */
import type { Entry, ReadRange } from '../records/read-range.ts';
import type { Origin } from '../records/origin.ts';
import { createBoundedView, type Ledger } from '../service/fields/ledger.ts';
import { isOnBoundedField } from '../service/bounded-takes.ts';
import type { Tables } from '../service/tables.ts';
import type { StateReader } from './store.ts';

/** Made for services with bounded fields alone. */
export class RightsReader implements StateReader {
  readonly #state: StateReader;
  readonly #tables: Tables;
  readonly #site: Origin | undefined;

  constructor(state: StateReader, tables: Tables, site: Origin | undefined) {
    this.#state = state;
    this.#tables = tables;
    this.#site = site;
  }

  read(table: string, key: string, field: string): unknown {
    const value = this.#state.read(table, key, field);
    return isOnBoundedField(this.#tables, { table, field }) ? createBoundedView(value as Ledger, this.#site) : value;
  }

  has(table: string, key: string): boolean {
    return this.#state.has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return this.#state.scan(range, reverse);
  }
}
