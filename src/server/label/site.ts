/** One site of a run: what it knows, and what holds there. */
import type { Effect, Stamp } from '../records/effect.ts';
import { Store } from '../state/store.ts';
import type { Ran } from './ran.ts';
import { isLeftFor } from './rights.ts';
import type { Step } from './step.ts';
import type { DrawnArgs } from './values/arguments.ts';
import { Validity, type Broken, type ShownRow } from './validity.ts';
import type { Workshop } from './workshop.ts';

/** A shadow operation with its stamp, as it is applied at any site. */
export interface Placed {
  readonly effects: readonly Effect[];
  readonly stamp: Stamp;
}

/** A site. */
export class LabelSite {
  readonly store: Store;
  readonly #workshop: Workshop;
  readonly #validity: Validity;
  #reserved: readonly Effect[] = [];

  /** @param applied what it has seen already */
  constructor(workshop: Workshop, applied: readonly Placed[] = []) {
    this.#workshop = workshop;
    this.store = new Store(workshop.judged.tables);
    this.#validity = new Validity(workshop, this.store);
    for (const placed of applied) this.apply(placed);
  }

  /** As `Workshop.run`, on what the site knows. */
  run(step: Step, isWatched = false, drawn?: DrawnArgs): Ran {
    return this.#workshop.run(step, this.store, isWatched, drawn);
  }

  /** Another site holds the rights to what these effects take, and this one has not seen them. */
  reserve(effects: readonly Effect[]): void {
    this.#reserved = effects;
  }

  /** Whether there are rights left to what these effects take: else who wants it has to wait. */
  isLeftFor(effects: readonly Effect[]): boolean {
    return isLeftFor([...this.#reserved, ...effects], this.#workshop.judged.tables, this.store);
  }

  apply({ effects, stamp }: Placed): void {
    for (const effect of effects) this.store.apply(effect, stamp);
  }

  /** Whether all that is said of all tables together holds, as it may not of empty ones. */
  get isValid(): boolean {
    return this.brokenBy([]) === undefined;
  }

  brokenBy(effects: readonly Effect[]): Broken | undefined {
    return this.#validity.brokenBy(effects);
  }

  row(table: string, key: string): ShownRow {
    return this.#validity.row(table, key);
  }
}
