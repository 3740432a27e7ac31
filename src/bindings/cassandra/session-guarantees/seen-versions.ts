/**
 * The newest version of each object that was seen, of so many objects at most.
 */
import type { ObjectVersion } from '../statement-plan.ts';
import { RecentMap } from '../../shared/recent-map.ts';

export interface SeenVersion {
  /**
   * The newest that was seen, and not found gone since; `undefined` where there
   * is none.
   */
  readonly version: number | undefined;
  /**
   * Distinguishes its value from another one of the same version; `undefined`
   * if that is unknown.
   */
  readonly content: string | undefined;
  /**
   * Whether every final view of level `strong` shows this version, or what came
   * after it.
   */
  readonly isSettled: boolean;
  /**
   * What was written up to then may be of before the object was found gone, or
   * of before it was forgotten.
   */
  readonly uncertainUpTo: number;
  /**
   * There were more objects than are kept: this one may be among those that are
   * not.
   */
  readonly isForgotten: boolean;
}

export interface PriorKnowledge {
  readonly seenVersion: SeenVersion | undefined;
  /** `SeenVersions.learnt` of then. */
  readonly learnedCount: number;
}

export const NOTHING_SEEN: SeenVersion = {
  version: undefined,
  content: undefined,
  isSettled: false,
  uncertainUpTo: -Infinity,
  isForgotten: false,
};

export class SeenVersions {
  readonly #maxEntries: number;
  readonly #versions: RecentMap<SeenVersion>;
  /** The latest version of those that were forgotten. */
  #forgottenUpTo: number | undefined;
  learnedCount = 0;

  constructor(max: number) {
    this.#maxEntries = max;
    this.#versions = new RecentMap(max);
  }

  get(id: string): SeenVersion | undefined {
    const sighting = this.#versions.get(id);
    if (sighting !== undefined || this.#forgottenUpTo === undefined)
      return sighting;
    return {
      ...NOTHING_SEEN,
      uncertainUpTo: this.#forgottenUpTo,
      isForgotten: true,
    };
  }

  /** What is known by now of these objects, of those of which anything is. */
  getFloors(ids: readonly string[]): Map<string, SeenVersion> {
    const floors = new Map<string, SeenVersion>();
    for (const id of ids) {
      const sighting = this.get(id);
      if (sighting !== undefined) floors.set(id, sighting);
    }
    return floors;
  }

  /**
   * The object was seen. Of two values with one version the one seen last is
   * the one that Cassandra keeps.
   */
  learn(object: ObjectVersion, isSettled = false): void {
    this.#learn(object, isSettled, this.get(object.id) ?? NOTHING_SEEN);
  }

  /**
   * An authoritative read: what it lacks was gone by `upTo`. What was learnt
   * since the read began stays beside it.
   */
  learnCertain(
    object: ObjectVersion,
    isSettled: boolean,
    before: PriorKnowledge,
    upTo: number,
  ): void {
    const { id, version } = object;
    const known = this.get(id) ?? NOTHING_SEEN;
    const { version: versionBefore = -Infinity, uncertainUpTo: doubtBefore } =
      before.seenVersion ?? NOTHING_SEEN;
    const isKept = this.#versions.has(id);
    // It is unknown what was learned and forgotten meanwhile.
    if (!isKept && this.learnedCount - before.learnedCount >= this.#maxEntries)
      return this.#learn(object, isSettled, known);
    if (version === undefined) {
      const uncertainUpTo = Math.max(upTo, known.uncertainUpTo, versionBefore);
      const isNewer =
        known.version !== undefined && known.version > versionBefore;
      return this.#store(id, {
        ...(isNewer ? known : NOTHING_SEEN),
        uncertainUpTo,
      });
    }
    const isNoDoubt = !isKept || known.uncertainUpTo === doubtBefore;
    this.#learn(
      object,
      isSettled,
      isNoDoubt ? { ...known, uncertainUpTo: -Infinity } : known,
    );
  }

  clear(): void {
    this.#versions.clear();
    this.#forgottenUpTo = undefined;
  }

  #learn(
    { id, version, content }: ObjectVersion,
    isSettled: boolean,
    known: SeenVersion,
  ): void {
    if (
      version === undefined ||
      (known.version !== undefined && version < known.version)
    )
      return;
    const wasSettled = known.isSettled && known.version === version;
    this.#store(id, {
      ...known,
      version,
      content,
      isSettled: isSettled || wasSettled,
      isForgotten: false,
    });
  }

  #store(id: string, sighting: SeenVersion): void {
    this.learnedCount += 1;
    const forgotten = this.#versions.set(id, sighting);
    if (forgotten === undefined) return;
    const { version = -Infinity, uncertainUpTo } = forgotten;
    this.#forgottenUpTo = Math.max(
      this.#forgottenUpTo ?? -Infinity,
      version,
      uncertainUpTo,
    );
  }
}

/**
 * Whether an object is older than it was seen, or has another value of the same
 * time (of another writer).
 */
export function isOlder(
  { version, content }: ObjectVersion,
  seen: SeenVersion | undefined,
): boolean {
  if (seen?.version === undefined || version === undefined) return false;
  if (version !== seen.version) return version < seen.version;
  return (
    content !== undefined &&
    seen.content !== undefined &&
    content !== seen.content
  );
}
