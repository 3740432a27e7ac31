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

export type SectionRows = ReadonlyMap<string, unknown>;

/** A part of the state that is saved row by row. */
export interface Section {
  /**
   * Marks every row as changed, and notes changes from now on. Before the first call no change is
   * noted.
   */
  changeAll(): void;
  /** An upper bound of the number of changed rows. It is 0 only if there are none. */
  readonly changeCount: number;
  /**
   * The number of rows taken so far because every row counted as changed. It is limited, however
   * fast rows change. Default: none
   */
  readonly initialRowsTaken?: number;
  /**
   * Takes up to `max` changed rows as they are now. They count as saved. A row that was removed has
   * the value `undefined`.
   */
  takeChanges(max: number): SavedRow[];
  restore(rows: SectionRows): void;
}

export type SavedRow = readonly [name: string, value: unknown];

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
}

/** The own part of a site that has no state yet. */
export const EMPTY_OWN_STATE: OwnState = {
  syncedLength: 0,
  clock: 0,
  waiting: [],
};

/**
 * Notes which rows have changed since they were last taken. It notes nothing until `addAll`, so
 * that a site without checkpoints pays nothing.
 */
export class RowChanges<K> {
  readonly #keys = new Set<K>();
  #remainingKeys: Iterator<K> | undefined;
  #isRecording = false;
  #firstTaken = 0;

  /** The number of rows taken so far because of `addAll`. */
  get initialRowsTaken(): number {
    return this.#firstTaken;
  }

  /** A bound that is 0 only if there are none. */
  get size(): number {
    return this.#keys.size + (this.#remainingKeys === undefined ? 0 : 1);
  }

  add(key: K): void {
    if (this.#isRecording) this.#keys.add(key);
  }

  /** Marks all of `keys` as changed. They are read as they are taken, and may go on changing. */
  addAll(keys: Iterable<K>): void {
    this.#isRecording = true;
    this.#keys.clear();
    this.#remainingKeys = keys[Symbol.iterator]();
  }

  take(max: number): K[] {
    const taken: K[] = [];
    while (taken.length < max && this.#remainingKeys !== undefined) {
      const next = this.#remainingKeys.next();
      if (next.done === true) this.#remainingKeys = undefined;
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
