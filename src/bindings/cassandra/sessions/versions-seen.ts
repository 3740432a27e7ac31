/** The newest version of each object that was seen, of so many objects at most. */
import type { ShownObject } from '../plan.ts';
import { RecentMap } from './recent-map.ts';

/** What is known of one object. */
export interface Sighting {
  /** The newest that was seen, and not found gone since; `undefined` where there is none. */
  readonly version: number | undefined;
  /** Tells its value from another one of the same version; `undefined` where nobody knows. */
  readonly content: string | undefined;
  /** Whether every final view of level `strong` shows this version, or what came after it. */
  readonly isSettled: boolean;
  /** What was written up to then may be of before the object was found gone, or of before it was forgotten. */
  readonly doubtedUpTo: number;
  /** There were more objects than are kept: this one may be among those that are not. */
  readonly isForgotten: boolean;
}

/** What was known when a read began. */
export interface KnownBefore {
  readonly sighting: Sighting | undefined;
  /** `VersionsSeen.learnt` of then. */
  readonly learnt: number;
}

export const NOTHING_SEEN: Sighting = {
  version: undefined,
  content: undefined,
  isSettled: false,
  doubtedUpTo: -Infinity,
  isForgotten: false,
};

export class VersionsSeen {
  readonly #max: number;
  readonly #sightings: RecentMap<Sighting>;
  /** The latest version of those that were forgotten. */
  #forgottenUpTo: number | undefined;
  #learnt = 0;

  constructor(max: number) {
    this.#max = max;
    this.#sightings = new RecentMap(max);
  }

  /** How often something was learnt. */
  get learnt(): number {
    return this.#learnt;
  }

  of(id: string): Sighting | undefined {
    const sighting = this.#sightings.get(id);
    if (sighting !== undefined || this.#forgottenUpTo === undefined) return sighting;
    return { ...NOTHING_SEEN, doubtedUpTo: this.#forgottenUpTo, isForgotten: true };
  }

  /** What is known by now of these objects, of those of which anything is. */
  floorsOf(ids: readonly string[]): Map<string, Sighting> {
    const floors = new Map<string, Sighting>();
    for (const id of ids) {
      const sighting = this.of(id);
      if (sighting !== undefined) floors.set(id, sighting);
    }
    return floors;
  }

  /** The object was seen. Of two values with one version the one seen last is the one that Cassandra keeps. */
  learn(object: ShownObject, isSettled = false): void {
    this.#learn(object, isSettled, this.of(object.id) ?? NOTHING_SEEN);
  }

  /**
   * What a read has shown that surely knew of all that was answered before it began. Of what was learnt of the object
   * since, it may not have known: that stands beside it. `upTo`: whatever it may have found gone was written up to then.
   */
  learnSure(object: ShownObject, isSettled: boolean, before: KnownBefore, upTo: number): void {
    const { id, version } = object;
    const known = this.of(id) ?? NOTHING_SEEN;
    const { version: versionBefore = -Infinity, doubtedUpTo: doubtBefore } = before.sighting ?? NOTHING_SEEN;
    const isKept = this.#sightings.has(id);
    // What was learnt and forgotten meanwhile, nobody knows.
    if (!isKept && this.#learnt - before.learnt >= this.#max) return this.#learn(object, isSettled, known);
    if (version === undefined) {
      const doubtedUpTo = Math.max(upTo, known.doubtedUpTo, versionBefore);
      const isNewer = known.version !== undefined && known.version > versionBefore;
      return this.#keep(id, { ...(isNewer ? known : NOTHING_SEEN), doubtedUpTo });
    }
    const isNoDoubt = !isKept || known.doubtedUpTo === doubtBefore;
    this.#learn(object, isSettled, isNoDoubt ? { ...known, doubtedUpTo: -Infinity } : known);
  }

  clear(): void {
    this.#sightings.clear();
    this.#forgottenUpTo = undefined;
  }

  #learn({ id, version, content }: ShownObject, isSettled: boolean, known: Sighting): void {
    if (version === undefined || (known.version !== undefined && version < known.version)) return;
    const wasSettled = known.isSettled && known.version === version;
    this.#keep(id, { ...known, version, content, isSettled: isSettled || wasSettled, isForgotten: false });
  }

  #keep(id: string, sighting: Sighting): void {
    this.#learnt += 1;
    const forgotten = this.#sightings.set(id, sighting);
    if (forgotten === undefined) return;
    const { version = -Infinity, doubtedUpTo } = forgotten;
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo ?? -Infinity, version, doubtedUpTo);
  }
}

/**
 * Whether an object is shown as it was before it was seen: with an older version, or with the same one and another value.
 * The latter is of another writer who had the same time, and whose value Cassandra has kept.
 */
export function isOlder({ version, content }: ShownObject, seen: Sighting | undefined): boolean {
  if (seen?.version === undefined || version === undefined) return false;
  if (version !== seen.version) return version < seen.version;
  return content !== undefined && seen.content !== undefined && content !== seen.content;
}
