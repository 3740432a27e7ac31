/** The service's invariants hold at every site after every operation (RedBlue, OSDI 2012, Theorem 2). */
import { NO_NOTES, tablesReader } from '../../../server/redblue/table-readers.ts';
import type { Service } from '../../../server/redblue/service.ts';
import type { SiteState } from '../../../server/redblue/site-state.ts';
import { require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';

export class InvariantChecker implements Checker {
  readonly name = 'invariants';
  readonly #service: Service;
  /** Readers of each state: making them costs more than what is checked. */
  readonly #readers = new WeakMap<SiteState, ReturnType<typeof tablesReader>>();

  constructor(service: Service) {
    this.#service = service;
  }

  applied(site: number, operation: AnyOperation, state: SiteState): void {
    const tables = this.#readersOf(state);
    for (const { table, key } of operation.effects) {
      for (const [name, holds] of Object.entries(this.#service.invariants[table] ?? {})) {
        const row = tables[table]?.row(key);
        require(row !== undefined && holds(row), () =>
          `at site ${site}, after ${operation.id}, row '${key}' of ${table} breaks "${name}"`);
      }
    }
  }

  #readersOf(state: SiteState): ReturnType<typeof tablesReader> {
    let readers = this.#readers.get(state);
    if (readers === undefined) {
      readers = tablesReader(this.#service.tables, state.store, NO_NOTES);
      this.#readers.set(state, readers);
    }
    return readers;
  }
}
