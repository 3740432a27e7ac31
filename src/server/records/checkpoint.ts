/**
 * The port by which a site's state is saved beside its logs, so that logs can
 * be cut and a restart need not read all of them. Large parts are *sections*:
 * named rows of which only those that have changed are written again. The rest
 * is small and saved whole, at the moment of the cut.
 *
 * Whatever a replica remembers and its logs alone do not give belongs into one
 * of the two.
 */
import type { DeploymentVersion } from './deployment-version.ts';
import type { Origin, SavedOrigin } from './origin.ts';
import type { BlueOperation, HeldStream, RedRecord } from './records.ts';
import type { Vector } from './vector.ts';
import type { CertificationDecision } from './certification-result.ts';

export type SectionRows = ReadonlyMap<string, unknown>;

/** A part of the state that is saved row by row. */
export interface Section {
  /**
   * From now on every row counts as changed, and what changes is noted. Before
   * the first call nothing is.
   */
  changeAll(): void;
  /**
   * How many rows count as changed, as far as known: zero only when there are
   * none.
   */
  readonly changeCount: number;
  /**
   * Rows taken so far because every row counted as changed: however fast rows
   * change, those become fewer. Default: none
   */
  readonly initialRowsTaken?: number;
  /**
   * Up to `max` changed rows as they are now; they count as saved. A value of
   * `undefined` says that the row is gone.
   */
  takeChanges(max: number): SavedRow[];
  restore(rows: SectionRows): void;
}

export type SavedRow = readonly [name: string, value: unknown];

export interface Checkpoint {
  readonly sections: Readonly<Record<string, SectionRows>>;
  readonly smallParts: unknown;
}

/**
 * A checkpoint has two parts: what all sites share that have got as far, and
 * what is the site's own.
 */
export type PartName = 'shared' | 'own';

/** Sections of a site's own have names that begin with this. */
export const OWN_SECTION = 'own.';

export function getPart(section: string): PartName {
  return section.startsWith(OWN_SECTION) ? 'own' : 'shared';
}

export function getSections(
  part: PartName,
  { sections }: Pick<Checkpoint, 'sections'>,
): Checkpoint['sections'] {
  return Object.fromEntries(
    Object.entries(sections).filter(([name]) => getPart(name) === part),
  );
}

/**
 * A record of the red log that the certifier has decided, before it may pass
 * the gate.
 */
export interface GateItem {
  readonly record: RedRecord;
  readonly decision: CertificationDecision;
}

export interface SavedRedPath {
  readonly deliveredCount: number;
  readonly gate: readonly GateItem[];
  readonly certifier: unknown;
}

/** A change of the members as it is saved: see `PendingChange`. */
export interface SavedChange {
  readonly place: number;
  readonly closing: readonly Origin[];
  readonly joining: readonly Origin[];
  readonly awaiting: readonly Origin[];
  readonly held: readonly HeldStream[];
}

/**
 * The small part of a replica's state that is the same at every site that has
 * got as far: it can be sent to another one.
 */
export interface SharedState {
  /** Whose the ordinals are that it has. */
  readonly origins: readonly SavedOrigin[];
  readonly change?: SavedChange;
  /** What is in force. Not saved where all sites are of one process. */
  readonly inForce?: DeploymentVersion;
  readonly stable: Vector;
  /**
   * By ordinal: so many operations of its stream are in the rows, from the
   * first on.
   */
  readonly applied: readonly number[];
  /**
   * By ordinal: the digest of those. Not known of streams that were begun
   * before digests were.
   */
  readonly digests?: readonly (number | undefined)[];
  /**
   * Operations of the site in the rows that no other site is known to have: one
   * that takes the state keeps them too.
   */
  readonly unsent?: readonly BlueOperation[];
  /** What the clock of the site showed then. Saved with those. */
  readonly savedAtMs?: number;
  readonly red: SavedRedPath;
}

/**
 * The small part of a replica's state that is the site's own: the end of what
 * it has, and what it has promised.
 */
export interface OwnState {
  /** Entries of the site's own log that the checkpoint contains. */
  readonly syncedLength: number;
  /** No stamp of the site is at or below it from then on. */
  readonly clock: number;
  /**
   * By ordinal: operations of its stream that are synced here and not in the
   * rows yet.
   */
  readonly waiting: readonly (readonly BlueOperation[])[];
  readonly terms?: readonly (readonly [
    site: Origin,
    term: number,
    directory?: string,
  ])[];
}

/** The own part of a site that has none yet. */
export const EMPTY_OWN_STATE: OwnState = {
  syncedLength: 0,
  clock: 0,
  waiting: [],
};

/**
 * Which rows have changed since they were last taken. Notes nothing until
 * `addAll`, so that who saves nothing pays nothing.
 */
export class RowChanges<K> {
  readonly #keys = new Set<K>();
  #remainingKeys: Iterator<K> | undefined;
  #isRecording = false;
  #firstTaken = 0;

  /** Of those taken so far, how many were of `addAll`. */
  get initialRowsTaken(): number {
    return this.#firstTaken;
  }

  /** A lower bound that is zero only when there are none. */
  get size(): number {
    return this.#keys.size + (this.#remainingKeys === undefined ? 0 : 1);
  }

  add(key: K): void {
    if (this.#isRecording) this.#keys.add(key);
  }

  /**
   * All of `keys`, which may go on changing: they are read as they are taken.
   */
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
