/** A state as the generators of one site read it: of bounded fields they see what that site may take by itself. */
import type { Entry, ReadRange } from '../records/read-range.ts';
import type { Origin, Origins } from '../records/origin.ts';
import { createBoundedView, type Ledger } from '../service/fields/ledger.ts';
import { isOnBoundedField } from '../service/bounded-takes.ts';
import type { Tables } from '../service/tables.ts';
import type { StateReader } from './store.ts';

/** Made for services with bounded fields alone. */
export class RightsReader implements StateReader {
  readonly #state: StateReader;
  readonly #tables: Tables;
  readonly #site: Origin | undefined;
  readonly #origins: Pick<Origins, 'closed'> | undefined;

  constructor(state: StateReader, tables: Tables, site: Origin | undefined, origins?: Pick<Origins, 'closed'>) {
    this.#state = state;
    this.#tables = tables;
    this.#site = site;
    this.#origins = origins;
  }

  read(table: string, key: string, field: string): unknown {
    const value = this.#state.read(table, key, field);
    if (!isOnBoundedField(this.#tables, { table, field })) return value;
    return createBoundedView(value as Ledger, this.#site, this.#origins?.closed);
  }

  has(table: string, key: string): boolean {
    return this.#state.has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return this.#state.scan(range, reverse);
  }
}
