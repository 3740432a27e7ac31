/** Whether the rows that an operation has changed keep what the service says of them (RedBlue, OSDI 2012, Theorem 2). */
import type { Effect } from '../../records/effect.ts';
import { findInvariantFailure, type InvariantFailure } from '../../service/invariants.ts';
import type { Service } from '../../service/service.ts';
import type { SiteState } from './site-state.ts';
import { NO_READ_LISTENER, createTablesReader } from '../../generator/table-readers.ts';

/** An invariant that does not hold. */
export interface BrokenInvariant extends InvariantFailure {
  readonly invariant: string;
}

/** One that does not hold of a row. */
export interface BrokenRow extends BrokenInvariant {
  readonly table: string;
  readonly key: string;
}

/** Checks rows after each operation. */
export class RowInvariantCheck {
  readonly #service: Service;
  /** Readers of each state: making them costs more than what is checked. */
  readonly #readers = new WeakMap<SiteState, ReturnType<typeof createTablesReader>>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** What does not hold of the rows that `effects` have changed, and not removed. */
  findBroken(effects: readonly Effect[], state: SiteState): readonly BrokenRow[] {
    const broken = new Map<string, BrokenRow>();
    for (const { table, key } of effects) {
      // One that was removed reads as at first, which no invariant speaks of.
      if (!state.store.has(table, key)) continue;
      for (const [invariant, holds] of Object.entries(this.#service.invariants[table] ?? {})) {
        const row = this.#getReaders(state)[table]?.row(key) ?? {};
        const error = findInvariantFailure(() => holds(row));
        if (error !== undefined) broken.set(`${table}\n${key}\n${invariant}`, { table, key, invariant, ...error });
      }
    }
    return [...broken.values()];
  }

  #getReaders(state: SiteState): ReturnType<typeof createTablesReader> {
    let readers = this.#readers.get(state);
    if (readers === undefined) {
      readers = createTablesReader(this.#service.tables, state.store, NO_READ_LISTENER);
      this.#readers.set(state, readers);
    }
    return readers;
  }
}
