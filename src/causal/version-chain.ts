/**
 * The versions of one key, newest first, with a mark at each place where versions are missing.
 *
 * Reads need old versions for a while, since a snapshot may be older than the last write. A read
 * must not take a dropped version for an absent one. Without the marks, two of three snapshots
 * under load were inconsistent (CAUSAL-7).
 */
import { isCovered, minVector, type Stamp, type Vector } from './stamps.ts';
import { compareVersions, getValueBytes, isVisible, type Version } from './version.ts';

/** Marks that versions between the newer and the older neighbor may be missing. */
export interface Gap {
  /**
   * Snapshots up to this vector cannot have seen the missing versions, so a read at such a snapshot
   * may pass the gap. `undefined` stops every read.
   */
  readonly passableUpTo: Vector | undefined;
}

export type ChainLink = Version | Gap;

/** A chain is never changed, because a copy of a partition shares it. */
export type VersionChain = readonly ChainLink[];

export const EMPTY_CHAIN: VersionChain = [];

/** A gap that no read may pass. */
export const CLOSED_GAP: Gap = { passableUpTo: undefined };

export function isGap(link: ChainLink): link is Gap {
  return !('stamp' in link);
}

/**
 * Returns the chain with `version` at its place. A version that is there already changes nothing.
 * Nor does a version that is older than a closed gap, because no read can reach it.
 */
export function insertVersion(chain: VersionChain, version: Version): VersionChain {
  for (const [index, link] of chain.entries()) {
    if (isGap(link)) {
      if (link.passableUpTo === undefined) return chain;
      continue;
    }
    const order = compareVersions(link, version);
    if (order === 0) return chain;
    if (order < 0) return chain.toSpliced(index, 0, version);
  }
  return [...chain, version];
}

/** Which versions a chain keeps (CAUSAL-6). */
export interface ChainLimits {
  /** Versions from this stamp on are kept. */
  readonly keepFrom: Stamp;
  /** Reads begin at this snapshot or at a later one. */
  readonly stable: Vector;
  readonly maxVersions: number;
  readonly maxVersionBytes: number;
}

/**
 * Returns the chain without the versions that no new snapshot needs. These are older than the
 * newest stable version that is from before `keepFrom`, or at which a limit of the chain is reached
 * (CAUSAL-6). A gap takes their place.
 */
export function trimChain(
  chain: VersionChain,
  { keepFrom, stable, maxVersions, maxVersionBytes }: ChainLimits,
): VersionChain {
  let count = 0;
  let bytes = 0;
  for (const [index, link] of chain.entries()) {
    if (isGap(link)) continue;
    count += 1;
    bytes += getValueBytes(link.value);
    const isFull = count >= maxVersions || bytes >= maxVersionBytes;
    const mayEndHere = link.stamp < keepFrom || isFull;
    if (!mayEndHere || !isVisible(link, stable)) continue;

    const next = chain[index + 1];
    const isComplete = next === undefined || (isGap(next) && next.passableUpTo === undefined);
    return isComplete ? chain : [...chain.slice(0, index + 1), CLOSED_GAP];
  }
  return chain;
}

/**
 * Returns the newest version in the snapshot, or `undefined` if the key had none. Returns `TOO_OLD`
 * if the read reaches a gap that it may not pass (CAUSAL-4, CAUSAL-7).
 */
export function findVisibleVersion(
  chain: VersionChain,
  snapshot: Vector,
): Version | 'TOO_OLD' | undefined {
  for (const link of chain) {
    if (isGap(link)) {
      const { passableUpTo } = link;
      if (passableUpTo === undefined || !isCovered(snapshot, passableUpTo)) return 'TOO_OLD';
    } else if (isVisible(link, snapshot)) return link;
  }
  return undefined;
}

/**
 * Returns the chain with all versions of another site's chain (CAUSAL-14). If the other chain ends
 * at a gap, versions may be missing below its oldest version, so the result has a gap there too.
 */
export function mergeChain(
  chain: VersionChain,
  source: VersionChain,
  passableUpTo: Vector | undefined,
): VersionChain {
  let merged = chain;
  let oldest: Version | undefined;
  for (const link of source) {
    if (isGap(link)) return oldest === undefined ? merged : addGap(merged, oldest, passableUpTo);
    merged = insertVersion(merged, link);
    oldest = link;
  }
  return merged;
}

function addGap(
  chain: VersionChain,
  above: Version,
  passableUpTo: Vector | undefined,
): VersionChain {
  const index = chain.findIndex((link) => !isGap(link) && compareVersions(link, above) === 0);
  if (index < 0) return chain;
  const next = chain[index + 1];
  if (next === undefined || !isGap(next)) return chain.toSpliced(index + 1, 0, { passableUpTo });

  const narrower =
    next.passableUpTo && passableUpTo ? minVector(next.passableUpTo, passableUpTo) : undefined;
  return chain.with(index + 1, { passableUpTo: narrower });
}

/** Returns the versions of a chain, newest first. */
export function getVersions(chain: VersionChain): readonly Version[] {
  return chain.filter((link): link is Version => !isGap(link));
}
