/**
 * The port by which a site's state is saved beside its logs, so that logs can be cut and a restart need not read all of
 * them. Large parts are *sections*: named rows of which only those that have changed are written again. The rest is
 * small and saved whole, at the moment of the cut.
 *
 * Whatever a replica remembers and its logs alone do not give belongs into one of the two.
 */

/** Rows of a section by name, as they were saved. */
export type SectionRows = ReadonlyMap<string, unknown>;

/** A part of the state that is saved row by row. */
export interface Section {
  /** From now on every row counts as changed, and what changes is noted. Before the first call nothing is. */
  changeAll(): void;
  /** How many rows count as changed, as far as known: zero only when there are none. */
  readonly changes: number;
  /**
   * Rows taken so far because every row counted as changed, and not because it had been: however fast rows change, those
   * become fewer. None unless given.
   */
  readonly firstTaken?: number;
  /** Up to `max` changed rows as they are now; they count as saved. A value of `undefined` says that the row is gone. */
  takeChanges(max: number): SavedRow[];
  restore(rows: SectionRows): void;
}

/** A row: its name and its plain value. */
export type SavedRow = readonly [name: string, value: unknown];

/** What a state was saved as. */
export interface Checkpoint {
  readonly sections: Readonly<Record<string, SectionRows>>;
  /** The small parts, whole. */
  readonly rest: unknown;
}

/** The part of a saved replica that says what it has of each stream. */
export interface SavedStreams {
  /** By origin: so many operations, from the first on. */
  readonly streams: readonly { readonly synced: number }[];
}

/** Which rows have changed since they were last taken. Notes nothing until `addAll`, so that who saves nothing pays nothing. */
export class Changes<K> {
  readonly #keys = new Set<K>();
  #rest: Iterator<K> | undefined;
  #isNoting = false;
  #firstTaken = 0;

  /** Of those taken so far, how many were of `addAll`. */
  get firstTaken(): number {
    return this.#firstTaken;
  }

  /** A lower bound that is zero only when there are none. */
  get size(): number {
    return this.#keys.size + (this.#rest === undefined ? 0 : 1);
  }

  add(key: K): void {
    if (this.#isNoting) this.#keys.add(key);
  }

  /** All of `keys`, which may go on changing: they are read as they are taken. */
  addAll(keys: Iterable<K>): void {
    this.#isNoting = true;
    this.#keys.clear();
    this.#rest = keys[Symbol.iterator]();
  }

  take(max: number): K[] {
    const taken: K[] = [];
    while (taken.length < max && this.#rest !== undefined) {
      const next = this.#rest.next();
      if (next.done === true) this.#rest = undefined;
      else taken.push(next.value);
    }
    this.#firstTaken += taken.length;
    for (const key of this.#keys) {
      if (taken.length >= max) break;
      this.#keys.delete(key);
      taken.push(key);
    }
    return taken;
  }
}
