/**
 * Applies deletes that the source of a copy no longer remembers (CAUSAL-18).
 *
 * The source drops a tombstone after a time, and then has nothing of that key. A partition that was
 * disconnected for longer may still have the deleted value. But a key that is missing at the source
 * may also belong to a write that the source has not received. The received vector of the source
 * distinguishes the two cases, because a source drops a tombstone only if no older write can arrive
 * any more.
 *
 * To empty the partition before the copy was rejected: that loses own writes which no other site
 * has. Two sites that were cut from each other would even empty both of their copies.
 */
import {
  isRefusal,
  type PartitionAddress,
  type PartitionPort,
  type Refusal,
  type ScanReply,
} from './partition-calls.ts';
import type { CausalLimits } from './limits.ts';
import { createZeroVector, type SiteIndex, type Stamp, type Vector } from './stamps.ts';
import { compareVersions, type Version, type VersionPlace } from './version.ts';
import { CLOSED_GAP, getVersions, isGap, type VersionChain } from './version-chain.ts';

/** A copy of a partition from another site. */
export interface PartitionCopy {
  readonly port: PartitionPort;
  readonly limits: CausalLimits;
  readonly target: PartitionAddress;
  readonly source: SiteIndex;
  readonly context: { readonly stable: Vector };
}

/** The oldest version that the source has of a key. */
export interface OldestVersion extends VersionPlace {
  /** Whether the source has dropped older versions to keep the chain short. */
  readonly isTrimmed: boolean;
}

/** The oldest versions that the source has of the keys that were copied. */
export interface CopiedChains {
  readonly oldest: ReadonlyMap<string, OldestVersion>;
}

/** What a site knows of the source once it has copied all its chains. */
export interface CopiedSource extends CopiedChains {
  /** The stamp up to which the source may have forgotten writes, when the copy began. */
  readonly forgottenBefore: Stamp;
  /** The same when the copy had ended. */
  readonly forgottenAfter: Stamp;
}

type OnEnd = (result: object | Refusal) => void;

/** Returns the stamp up to which the source may have forgotten writes. */
export function readForgottenUpTo(
  { port, limits, target, source, context }: PartitionCopy,
  onReply: (reply: { readonly forgottenUpTo: Stamp } | Refusal) => void,
): void {
  // Send zero as the time, so that the call does not confirm that all writes are there (CAUSAL-10).
  const request = {
    siteTime: 0,
    siteClock: 0,
    lastSeen: 0,
    stable: createZeroVector(context.stable.length),
  };
  port.call({ ...target, site: source }, 'state', request, (state) => {
    if (isRefusal(state)) return onReply(state);
    const { received, physicalClock } = state;
    const others = received.filter((_, site) => site !== source);
    // A write that the source lost in a failover is younger, and must not count as forgotten.
    const forgottenUpTo = Math.min(physicalClock - limits.keepTombstonesFor / 2, ...others);
    onReply({ forgottenUpTo });
  });
}

/**
 * Returns the oldest version in a chain of the source, and whether the source may have dropped
 * older versions.
 */
export function findOldestVersion(chain: VersionChain): OldestVersion | undefined {
  const last = chain.at(-1);
  const version = getVersions(chain).at(-1);
  if (last === undefined || version === undefined) return undefined;
  const { stamp, site } = version;
  return { stamp, site, isTrimmed: isGap(last) };
}

/**
 * Writes a tombstone above each value that the source has forgotten. Snapshots stay consistent:
 * they see the tombstones only once the target has received as much as the source had. Earlier
 * snapshots are refused, unless they end before the copy.
 */
export function hideForgottenKeys(copy: PartitionCopy, copied: CopiedSource, onEnd: OnEnd): void {
  hidePage(copy, { ...copied, page: '', isUnsure: false }, onEnd);
}

interface HidingPage extends CopiedSource {
  readonly page: string;
  /** Whether the source may have received a write, and forgotten it, while it was copied. */
  readonly isUnsure: boolean;
}

function hidePage(copy: PartitionCopy, hiding: HidingPage, onEnd: OnEnd): void {
  const { port, target, limits, source } = copy;
  const { oldest, forgottenBefore, forgottenAfter, page } = hiding;
  port.call(target, 'scan', { page, maxKeys: limits.maxScannedKeys }, (scanned) => {
    if (isRefusal(scanned)) return onEnd(scanned);
    const missing = scanned.chains.flatMap(([key, chain]) => {
      const version = findMissingVersion(chain, oldest.get(key));
      return version === undefined ? [] : [{ key, version }];
    });
    const forgotten = missing.filter(({ version: { stamp } }) => stamp < forgottenBefore);
    const isUnsure =
      hiding.isUnsure ||
      missing.some(({ version: { stamp } }) => stamp >= forgottenBefore && stamp < forgottenAfter);
    const chains = forgotten.map(
      ({ key, version }) => [key, hideVersion(version, source, forgottenBefore)] as const,
    );
    mergeTombstones(copy, chains, (merged) => {
      if (isRefusal(merged)) return onEnd(merged);
      if (scanned.nextPage !== undefined)
        return hidePage(copy, { ...hiding, page: scanned.nextPage, isUnsure }, onEnd);
      onEnd(isUnsure ? { refused: 'STALE' } : {});
    });
  });
}

/** Returns the newest value here that the source does not have, although it is not trimmed. */
function findMissingVersion(
  chain: VersionChain,
  oldest: OldestVersion | undefined,
): Version | undefined {
  if (oldest?.isTrimmed) return undefined;
  const isMissing = (version: Version): boolean =>
    oldest === undefined || compareVersions(version, oldest) < 0;
  const version = getVersions(chain).find(isMissing);
  return version?.kind === 'value' ? version : undefined;
}

function mergeTombstones(
  { port, target }: PartitionCopy,
  chains: ScanReply['chains'],
  onEnd: OnEnd,
): void {
  if (chains.length === 0) onEnd({});
  else port.call(target, 'merge', { chains, hasLostState: false }, onEnd);
}

/** The tombstone is not above the delete that was forgotten, so that it hides no later write. */
function hideVersion(version: Version, source: SiteIndex, forgottenUpTo: Stamp): VersionChain {
  const tombstone: Version = {
    stamp: version.stamp + 1,
    site: source,
    kind: 'tombstone',
    expiresAt: 0,
    dependencies: version.dependencies.map(() => forgottenUpTo),
    value: undefined,
  };
  return [tombstone, CLOSED_GAP];
}
