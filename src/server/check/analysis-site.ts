/** One site of a run: its state, and whether that state is valid (RedBlue, OSDI 2012, §5.3). */
import type { Effect, Stamp } from '../service/records/effect.ts';
import { Store } from '../service/state/store.ts';
import type { StepResult, Step } from './interleaving.ts';
import { findRightsShortfall, type SearchContext } from './search-context.ts';
import type { GeneratedArgs } from './values/argument-generator.ts';
import { Origins, RED, type Origin } from '../service/records/origin.ts';
import { findInvariantFailure, type InvariantFailure } from '../service/invariants.ts';
import type { TablesReader } from '../service/readers.ts';
import type { Tables } from '../service/tables.ts';

/** A row as generators read it. */
export interface RowValue {
  readonly table: string;
  readonly key: string;
  /** Empty if the row does not exist. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An invariant of the service that does not hold. */
export interface InvariantViolation extends InvariantFailure {
  readonly invariant: string;
  /** Whether the invariant is about one row, or about all tables together. */
  readonly isOfRow: boolean;
  /** The row. For an invariant about all tables, the rows that were changed last. */
  readonly rows: readonly RowValue[];
}

/**
 * Stamps are created here as replicas do, not by a site's clock: a clock cannot determine in which
 * order other sites apply operations.
 */
const { sites, size } = Origins.create(['here', 'there']);

/** The origins of the first and the second site. */
export const [HERE, THERE] = sites as readonly [Origin, Origin];

/**
 * The distance between the times of two operations, so that times of other operations fit in
 * between.
 */
const STRIDE = 10;

/** Stamps the operations that one site sees, one after the other. */
export class StampGenerator {
  readonly #seenVector: number[];
  #time: number;

  constructor(from?: StampGenerator) {
    this.#seenVector =
      from === undefined ? Array.from({ length: size }, () => 0) : [...from.#seenVector];
    this.#time = from === undefined ? 0 : from.#time;
  }

  /** Stamps the next operation of this site. */
  next(site: Origin, isRed: boolean): Stamp {
    this.#time += STRIDE;
    return this.#at(site, isRed ? RED : site, this.#time);
  }

  /**
   * Stamps a blue operation of the first site. `place` is its position among the times of the
   * second site's concurrent operations (`Interleaving.place`).
   */
  createConcurrent(place: number): Stamp {
    return this.#at(HERE, HERE, this.#time + (STRIDE / 2) * (place + 1));
  }

  #at(site: Origin, entry: Origin, time: number): Stamp {
    const stamp = {
      time,
      site,
      entry,
      version: time,
      seen: [...this.#seenVector],
    };
    this.#seenVector[entry] = time;
    return stamp;
  }
}

/** A shadow operation with its stamp, as each site applies it. */
export interface StampedShadow {
  readonly effects: readonly Effect[];
  readonly stamp: Stamp;
}

export class AnalysisSite {
  readonly store: Store;
  readonly #context: SearchContext;
  #reserved: readonly Effect[] = [];

  /** @param applied the operations that the site has seen already */
  constructor(workshop: SearchContext, applied: readonly StampedShadow[] = []) {
    this.#context = workshop;
    this.store = new Store(workshop.service.tables);
    for (const placed of applied) this.apply(placed);
  }

  /** Calls `SearchContext.run` on the state of this site. */
  run(step: Step, isWatched = false, generated?: GeneratedArgs): StepResult {
    return this.#context.run(step, this.store, isWatched, generated);
  }

  /**
   * Reserves the rights that these effects use up: another site has used them, and this one has not
   * seen its operation yet.
   */
  reserve(effects: readonly Effect[]): void {
    this.#reserved = effects;
  }

  /**
   * Returns whether enough rights are left for these effects. Otherwise the operation would have to
   * wait.
   */
  hasRightsFor(effects: readonly Effect[]): boolean {
    return (
      findRightsShortfall(
        [...this.#reserved, ...effects],
        this.#context.service.tables,
        this.store,
      ) === undefined
    );
  }

  apply({ effects, stamp }: StampedShadow): void {
    for (const effect of effects) this.store.apply(effect, stamp);
  }

  /** Whether all invariants about all tables hold. They may not hold on empty tables. */
  get isValid(): boolean {
    return this.findViolation([]) === undefined;
  }

  get #tables(): TablesReader<Tables> {
    return this.#context.getTables(this.store);
  }

  /**
   * Returns the first invariant that does not hold: of the rows that these effects changed and did
   * not remove, or of all tables.
   */
  findViolation(effects: readonly Effect[]): InvariantViolation | undefined {
    const { invariants, snapshotInvariants } = this.#context.service.runnable;
    for (const { table, key } of effects) {
      if (!this.store.has(table, key)) continue;
      const row = this.#tables[table]?.row(key) ?? {};
      for (const [invariant, holds] of Object.entries(invariants[table] ?? {})) {
        const failure = findInvariantFailure(() => holds(row));
        if (failure !== undefined)
          return {
            invariant,
            isOfRow: true,
            rows: [this.row(table, key)],
            ...failure,
          };
      }
    }
    for (const [invariant, holds] of Object.entries(snapshotInvariants)) {
      const failure = findInvariantFailure(() => holds(this.#tables));
      if (failure !== undefined)
        return {
          invariant,
          isOfRow: false,
          rows: this.#getRows(effects),
          ...failure,
        };
    }
    return undefined;
  }

  /** Returns the rows that the effects change, each once. */
  #getRows(effects: readonly Effect[]): readonly RowValue[] {
    const rows = new Map(
      effects.map(({ table, key }) => [JSON.stringify([table, key]), { table, key }]),
    );
    return [...rows.values()].map(({ table, key }) => this.row(table, key));
  }

  row(table: string, key: string): RowValue {
    if (!this.store.has(table, key)) return { table, key, fields: {} };
    return { table, key, fields: this.readRow(table, key) };
  }

  /** Returns the fields of a row, with their initial values if it does not exist. */
  readRow(table: string, key: string): Readonly<Record<string, unknown>> {
    const row = (this.#tables[table]?.row(key) ?? {}) as Readonly<Record<string, unknown>>;
    const names = Object.keys(this.#context.service.tables[table]?.fields ?? {});
    return Object.fromEntries(names.map((name) => [name, toPlainValue(row[name])]));
  }
}

/** Copies a value: a set as a list, a queue as its items, a bounded field as its value. */
function toPlainValue(value: unknown): unknown {
  if (value instanceof Set) return [...(value as Set<unknown>)];
  if (typeof value === 'object' && value !== null && 'rights' in value && 'value' in value)
    return value.value;
  if (typeof value !== 'object' || value === null || !('size' in value) || !('at' in value))
    return value;
  const { size, at } = value as { size: number; at(index: number): unknown };
  return Array.from({ length: size }, (_, index) => at(index));
}
