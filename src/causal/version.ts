/** One write of one key, as all sites keep it (Contrarian, A.1: the tuple ⟨k, v, sr, DV⟩). */
import { isCovered, type SiteIndex, type Stamp, type Vector } from './stamps.ts';

/** The place of a version in the order of the versions of its key. */
export interface VersionPlace {
  /** The time of the write, above all stamps that the write depends on (CAUSAL-1). */
  readonly stamp: Stamp;
  /** The site of the write. It decides between two writes with the same stamp. */
  readonly site: SiteIndex;
}

export interface Version extends VersionPlace {
  /**
   * A delete is a version too: an older write that arrives later must not come back (CAUSAL-18).
   */
  readonly kind: 'value' | 'tombstone';
  /** From this stamp on, the key reads as absent; 0 if the version does not expire (CAUSAL-18). */
  readonly expiresAt: Stamp;
  /** What the write depends on. The entry of `site` is `stamp`. */
  readonly dependencies: Vector;
  readonly value: unknown;
}

/** Returns the size of a value: 0 for one that is no bytes, as in a store in this process. */
export function getValueBytes(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 0;
}

/** Orders two writes of one key: by stamp, then by site. The last writer wins. */
export function compareVersions(a: VersionPlace, b: VersionPlace): number {
  return a.stamp - b.stamp || a.site - b.site;
}

/** Returns whether `version` belongs to the snapshot (Alg. 2, line 25). */
export function isVisible(version: Version, snapshot: Vector): boolean {
  return isCovered(version.dependencies, snapshot);
}

/**
 * Returns whether the key reads as absent at `now`: it was removed, or it has expired (CAUSAL-18).
 */
export function isAbsentAt({ kind, expiresAt }: Version, now: Stamp): boolean {
  return kind === 'tombstone' || (expiresAt !== 0 && expiresAt <= now);
}
