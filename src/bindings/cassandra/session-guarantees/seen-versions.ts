/** The newest version that was seen of each object, for a limited number of objects. */
import type { ObjectVersion } from '../statement-plan.ts';
import { RecentMap } from '../../shared/recent-map.ts';

export interface SeenVersion {
  /**
   * The newest version that was seen, unless a later read found that the object is gone.
   * `undefined` if there is none.
   */
  readonly version: number | undefined;
  /** Distinguishes its value from another one of the same version. `undefined` if it is unknown. */
  readonly content: string | undefined;
  /** Whether every final view of level `strong` shows this version or a later one. */
  readonly isSettled: boolean;
  /** Versions up to this one may be from before the object was found gone or was forgotten. */
  readonly uncertainUpTo: number;
  /** Whether the object may be one of those that were dropped because of the limit. */
  readonly isForgotten: boolean;
}

export interface PriorKnowledge {
  readonly seenVersion: SeenVersion | undefined;
  /** The value of `learnedCount` when the read began. */
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
  /** The latest version of the forgotten objects. */
  #forgottenUpTo: number | undefined;
  learnedCount = 0;

  constructor(max: number) {
    this.#maxEntries = max;
    this.#versions = new RecentMap(max);
  }

  get(id: string): SeenVersion | undefined {
    const observation = this.#versions.get(id);
    if (observation !== undefined || this.#forgottenUpTo === undefined) return observation;
    return {
      ...NOTHING_SEEN,
      uncertainUpTo: this.#forgottenUpTo,
      isForgotten: true,
    };
  }

  /** Returns what is known of these objects. Objects of which nothing is known are left out. */
  getSeen(ids: readonly string[]): Map<string, SeenVersion> {
    const seenVersions = new Map<string, SeenVersion>();
    for (const id of ids) {
      const observation = this.get(id);
      if (observation !== undefined) seenVersions.set(id, observation);
    }
    return seenVersions;
  }

  /**
   * Notes that the object was seen. Of two values with one version, Cassandra keeps the one that
   * was seen last.
   */
  learn(object: ObjectVersion, isSettled = false): void {
    this.#learn(object, isSettled, this.get(object.id) ?? NOTHING_SEEN);
  }

  /**
   * Notes the result of an authoritative read. Missing objects were gone by `upTo`. Versions that
   * were learned since the read began are kept.
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
    // So much was learned meanwhile that an object may have been learned and forgotten again.
    if (!isKept && this.learnedCount - before.learnedCount >= this.#maxEntries)
      return this.#learn(object, isSettled, known);
    if (version === undefined) {
      const uncertainUpTo = Math.max(upTo, known.uncertainUpTo, versionBefore);
      const isNewer = known.version !== undefined && known.version > versionBefore;
      return this.#store(id, {
        ...(isNewer ? known : NOTHING_SEEN),
        uncertainUpTo,
      });
    }
    const isNoDoubt = !isKept || known.uncertainUpTo === doubtBefore;
    this.#learn(object, isSettled, isNoDoubt ? { ...known, uncertainUpTo: -Infinity } : known);
  }

  clear(): void {
    this.#versions.clear();
    this.#forgottenUpTo = undefined;
  }

  #learn({ id, version, content }: ObjectVersion, isSettled: boolean, known: SeenVersion): void {
    if (version === undefined || (known.version !== undefined && version < known.version)) return;
    const wasSettled = known.isSettled && known.version === version;
    this.#store(id, {
      ...known,
      version,
      content,
      isSettled: isSettled || wasSettled,
      isForgotten: false,
    });
  }

  #store(id: string, observation: SeenVersion): void {
    this.learnedCount += 1;
    const forgotten = this.#versions.set(id, observation);
    if (forgotten === undefined) return;
    const { version = -Infinity, uncertainUpTo } = forgotten;
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo ?? -Infinity, version, uncertainUpTo);
  }
}

/**
 * Returns whether an object is older than it was seen, or has another value of the same time by
 * another writer.
 */
export function isOlder(
  { version, content }: ObjectVersion,
  seen: SeenVersion | undefined,
): boolean {
  if (seen?.version === undefined || version === undefined) return false;
  if (version !== seen.version) return version < seen.version;
  return content !== undefined && seen.content !== undefined && content !== seen.content;
}
