/**
 * The port by which a site's state is saved beside its logs. So logs can be cut, and a restart need
 * not read all of them. Large parts are *sections*: named rows of which only changed ones are
 * written again. The rest is small and saved as a whole, at the moment of the cut. State that does
 * not follow from the logs alone belongs into one of the two.
 */
import type { DeploymentVersion } from './deployment-version.ts';
import type { Origin, SavedOrigin } from './origin.ts';
import type { BlueOperation, ExecutionName, HeldStream, RedRecord } from './records.ts';
import type { Vector } from './vector.ts';
import type { CertificationDecision } from './certification-result.ts';

export type SectionRows = Map<string, unknown>;

/**
 * A part of the state that is saved row by row. At one moment the set of changed rows is closed.
 * They are taken later, a few at a time, as they were at that moment, while the part goes on
 * changing.
 */
export interface Section {
  /**
   * All rows count as changed, as at the beginning. A set that is not taken yet ends. No change is
   * noted until the next set is closed.
   */
  changeAll(): void;
  /**
   * Closes the set of the rows that have changed since the last set. That one must have been taken
   * as a whole.
   */
  closeChanges(): void;
  /**
   * Takes up to `max` rows of the closed set. If it returns none, all are taken. A row that was
   * removed has the value `undefined`.
   */
  takeClosed(max: number): SavedRow[];
  /** Restores the rows. It may take them out of the map: twice the rows may not fit into memory. */
  restore(rows: SectionRows): void;
}

export type SavedRow = readonly [name: string, value: unknown];

/**
 * What the last commit has of a section. It stays the same until the section learns of the next
 * commit.
 */
export interface SavedRows {
  /**
   * Returns the saved value of a row, as the section gave it; `undefined` if there is none. Throws
   * if it is damaged. The caller owns the value.
   */
  get(name: string): unknown;
  /** Notes that something is missing or wrong although it can be read. Throws that. */
  reportDamage(problem: string): never;
}

/** The number of entries of each order of a table, by the name of the order. */
export type SavedOrders = Readonly<Record<string, number>>;

/**
 * The orders of each table, by the name of the table. A table whose directory is lost would look
 * empty without the numbers.
 */
export type SavedTables = Readonly<Record<string, SavedOrders>>;

/** What the last commit has of a section that reads its rows from the store. */
export interface SavedSection extends SavedRows {
  /** Absent: all orders are taken as they are found. */
  readonly tables?: SavedTables | undefined;
}

/**
 * A section that reads its rows from the store when it needs them, instead of having all of them in
 * memory. Once it is open, a set that is closed is either committed or not before the next one is
 * closed, and neither `restore` nor `changeAll` is called.
 */
export interface StoredSection extends Section {
  /** Whether it reads rows from a store. */
  readonly isOpen: boolean;
  /**
   * What a reader needs to find all rows without the service. Once a set is closed, it is that of
   * the set, until the next change.
   */
  readonly savedTables: SavedTables;
  /**
   * Begins with what the store has, instead of `restore`. Reads no rows, but the directories of
   * orders and the remembered removals. An order that the last commit lacks is made of all rows.
   *
   * @throws Error if an order has more or fewer entries than the last commit
   */
  open(saved: SavedSection): void;
  /**
   * The set that was closed last is on the disk, and `saved` shows it. Runs in a turn of its own:
   * no scan is open.
   */
  onCommitted(saved: SavedRows): void;
  /** It is not. The next set has its rows too. */
  onCommitFailed(): void;
}

export function isStored(section: Section): section is StoredSection {
  return 'onCommitted' in section;
}

export interface Checkpoint {
  readonly sections: Readonly<Record<string, SectionRows>>;
  readonly smallParts: unknown;
}

/** A checkpoint has two parts: the state that all sites share, and the state of the site itself. */
export type PartName = 'shared' | 'own';

/** The prefix of the names of a site's own sections. */
export const OWN_SECTION = 'own.';

export function getPart(section: string): PartName {
  return section.startsWith(OWN_SECTION) ? 'own' : 'shared';
}

export function getSections(part: PartName, { sections }: Checkpoint): Checkpoint['sections'] {
  return Object.fromEntries(Object.entries(sections).filter(([name]) => getPart(name) === part));
}

/** A record of the red log that the certifier has decided, before it may pass the gate. */
export interface GateItem {
  readonly record: RedRecord;
  readonly decision: CertificationDecision;
}

export interface SavedRedPath {
  readonly deliveredCount: number;
  readonly gate: readonly GateItem[];
  readonly certifier: unknown;
  /** The last copy of the members that the log has. Absent before the first. */
  readonly members?: SavedMembers;
  /**
   * The place in `main` of the last activation of which the log has a copy. Absent before the
   * first.
   */
  readonly activatedPlace?: number;
}

/** Returns what a checkpoint has of the red log of a partition. */
export function getSavedRed(
  { red, reds }: Pick<SharedState, 'red' | 'reds'>,
  partition: number,
): SavedRedPath | undefined {
  return partition === 0 ? red : reds?.[partition - 1];
}

/** The table of origins as it is behind a place of the red log of `main`. */
export interface SavedMembers {
  readonly place: number;
  readonly origins: readonly SavedOrigin[];
}

/** The version that `main` has activated last, and the place of its record. */
export interface SavedActivation {
  readonly version: DeploymentVersion;
  readonly place: number;
}

/** A global that has committed, until its holds have ended. */
export type SavedCommittedGlobal = readonly [
  execution: ExecutionName,
  stamp: number,
  /** The ordinals of the partitions where it still holds rows. */
  awaited: readonly number[],
];

/** A change of the members as it is saved: see `PendingChange`. */
export interface SavedChange {
  readonly place: number;
  readonly closing: readonly Origin[];
  readonly joining: readonly Origin[];
  readonly awaiting: readonly Origin[];
  readonly held: readonly HeldStream[];
}

/**
 * The small part of a replica's state that is the same at every site that has got as far. It can be
 * sent to another site.
 */
export interface SharedState {
  /** The origins to which its ordinals belong. */
  readonly origins: readonly SavedOrigin[];
  readonly change?: SavedChange;
  /**
   * The place in `main` of the record that has changed the table of origins last. It is saved only
   * if there are several red logs.
   */
  readonly membersPlace?: number;
  /** The version in force. It is not saved if all sites are in one process. */
  readonly inForce?: DeploymentVersion;
  /**
   * What `main` has activated last. It is saved only if there are several red logs. It may not be
   * in force yet.
   */
  readonly activated?: SavedActivation;
  readonly stable: Vector;
  /** By ordinal: the number of operations of the stream that are in the rows. */
  readonly applied: readonly number[];
  /**
   * By ordinal: the digest of those operations. It is unknown for streams that are older than
   * digests.
   */
  readonly digests?: readonly (number | undefined)[];
  /**
   * Operations of the site in the rows that no other site is known to have. A site that takes the
   * state keeps them too.
   */
  readonly unsent?: readonly BlueOperation[];
  /** The time of the site's clock, saved with those operations. */
  readonly savedAtMs?: number;
  readonly red: SavedRedPath;
  /** Globals whose holds have not all ended. Absent if there are none. */
  readonly globals?: readonly SavedCommittedGlobal[];
  /** Of the other partitions, in the order of their ordinals. */
  readonly reds?: readonly SavedRedPath[];
}

/**
 * The small part of a replica's state that is the site's own: the ends of its streams, and its
 * promises.
 */
export interface OwnState {
  /** Entries of the site's own log that the checkpoint contains. */
  readonly syncedLength: number;
  /** The site never again gives a stamp at or below this. */
  readonly clock: number;
  /** By ordinal: operations of the stream that are synced here and not in the rows yet. */
  readonly waiting: readonly (readonly BlueOperation[])[];
  readonly terms?: readonly (readonly [site: Origin, term: number, directory?: string])[];
  /** About how many bytes the site had in memory. A start finds out by it whether it fits. */
  readonly memoryBytes?: number;
}

/** The own part of a site that has no state yet. */
export const EMPTY_OWN_STATE: OwnState = {
  syncedLength: 0,
  clock: 0,
  waiting: [],
};

/** The rows of which `RowChanges` notes changes. */
export interface ChangingRows<K> {
  /** Returns the keys of all rows. They are read as rows are taken, and may go on changing. */
  listKeys(): Iterable<K>;
  /** Returns a row as it is now; `undefined` if it does not exist. */
  save(key: K): unknown;
}

/**
 * Notes which rows have changed, and keeps those of a closed set as they were when it was closed
 * (copy on write). It notes nothing until the first set is closed, so that a site without
 * checkpoints pays nothing.
 */
export class RowChanges<K> {
  readonly #rows: ChangingRows<K>;
  /** The rows that have changed since the last set was closed. `undefined`: all of them */
  #changed: Set<K> | undefined;
  /** The rows of the set that were noted, and are not taken. */
  #closed = new Set<K>();
  /** The other rows of the set, until all are taken. */
  #others: Iterable<K> | undefined;
  #untaken: Iterator<K> = [].values();
  /** Rows of the set that have changed since, as they were before. */
  readonly #copies = new Map<K, unknown>();
  /** The taken rows of the set that may fail to be committed. `undefined`: sets cannot fail. */
  #uncommitted: K[] | undefined;
  #period = 0;
  #committedPeriod = 0;

  constructor(rows: ChangingRows<K>) {
    this.#rows = rows;
  }

  /**
   * The number of sets that were closed. A row has to be noted once after each, so its owner may
   * keep when it was.
   */
  get period(): number {
    return this.#period;
  }

  /** A row that was noted in no later period is in the store as it is. */
  get committedPeriod(): number {
    return this.#committedPeriod;
  }

  /** Whether rows of the closed set are not taken yet. */
  get isSaving(): boolean {
    return this.#others !== undefined || this.#closed.size > 0;
  }

  /** Whether the row was noted for the closed set, and is not taken. */
  isUntaken(key: K): boolean {
    return this.#closed.has(key);
  }

  /** To be called before the row changes. */
  note(key: K): void {
    if (this.#changed === undefined) return;
    if (this.isSaving && !this.#changed.has(key)) this.#copy(key);
    this.#changed.add(key);
  }

  changeAll(): void {
    this.#changed = undefined;
    this.#endSet();
  }

  /** The store has all rows as they are. Each set is committed from now on, or fails. */
  open(): void {
    this.#changed = new Set();
    this.#uncommitted = [];
    this.#period = 1;
  }

  /** The closed set is in the store. */
  onCommitted(): void {
    this.#uncommitted = [];
    this.#committedPeriod = this.#period - 1;
  }

  /** The closed set is not in the store, so the next one has its rows too. */
  onCommitFailed(): void {
    for (const keys of [this.#uncommitted ?? [], this.#copies.keys(), this.#closed])
      for (const key of keys) this.#changed?.add(key);
    this.#uncommitted = [];
    this.#endSet();
  }

  /** @param newKeys of rows that have come since the last set and were not noted */
  closeChanges(newKeys?: Iterable<K>): void {
    this.#others = this.#changed === undefined ? this.#rows.listKeys() : newKeys;
    this.#closed = this.#changed ?? new Set();
    this.#changed = new Set();
    this.#period += 1;
    this.#untaken = this.#takeKeys(this.#changed);
  }

  takeClosed(max: number): (readonly [key: K, value: unknown])[] {
    const taken: (readonly [K, unknown])[] = [];
    for (const copy of this.#copies) {
      if (taken.length >= max) break;
      this.#copies.delete(copy[0]);
      taken.push(copy);
    }
    while (taken.length < max) {
      const next = this.#untaken.next();
      if (next.done === true) break;
      taken.push([next.value, this.#rows.save(next.value)]);
    }
    if (this.#uncommitted !== undefined) for (const [key] of taken) this.#uncommitted.push(key);
    return taken;
  }

  #endSet(): void {
    this.#closed = new Set();
    this.#others = undefined;
    this.#copies.clear();
  }

  *#takeKeys(changed: ReadonlySet<K>): Generator<K, void> {
    for (const key of this.#closed) {
      this.#closed.delete(key);
      yield key;
    }
    // Those that have changed were copied.
    for (const key of this.#others ?? []) if (!changed.has(key)) yield key;
    this.#others = undefined;
  }

  /** The row changes for the first time since the set was closed. */
  #copy(key: K): void {
    const isClosed = this.#closed.delete(key);
    // Of the others nothing tells which are taken, so some are copied in vain.
    if (!isClosed && this.#others === undefined) return;
    const value = this.#rows.save(key);
    if (isClosed || value !== undefined) this.#copies.set(key, value);
  }
}
