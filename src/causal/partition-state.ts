/**
 * The data of one partition at one site. After a failover, an older copy of it may take its place.
 */
import { OwnEntries } from './own-entries.ts';
import type { Cursor } from './partition-calls.ts';
import { RemovalQueue } from './removal-queue.ts';
import { createZeroVector, type Stamp, type Vector } from './stamps.ts';
import type { VersionChain } from './version-chain.ts';

export interface PartitionState {
  /** The hybrid clock (HLC). Each write gets a stamp above it. */
  clock: Stamp;
  /** The stamp of the last own write. */
  lastOwnStamp: Stamp;
  readonly own: OwnEntries;
  /**
   * The time up to which the gateway of this site has confirmed that no own write is missing
   * (CAUSAL-10).
   */
  confirmedUntil: Stamp;
  /**
   * For each other site, the stamp up to which its writes have arrived here (the version vector
   * VV).
   */
  received: Vector;
  /** The last entry of each other site that was applied here. */
  cursors: readonly Cursor[];
  /** The last own entry that each other site has applied. */
  acknowledged: readonly number[];
  readonly chains: Map<string, VersionChain>;
  /** Keys whose newest version is a tombstone or expires. */
  readonly removable: RemovalQueue;
  /**
   * How often missing writes were detected here. The next field counts how many of these losses
   * were healed.
   */
  suspicions: number;
  healedSuspicions: number;
  /** The highest own stamp that other sites had and this one had lost. */
  recoveredOwnStamp: Stamp;
}

export function createPartitionState(siteCount: number): PartitionState {
  const zeros = createZeroVector(siteCount);
  return {
    clock: 0,
    lastOwnStamp: 0,
    own: new OwnEntries(),
    confirmedUntil: 0,
    received: zeros,
    cursors: zeros.map(() => ({ entry: 0, stamp: 0 })),
    acknowledged: zeros,
    chains: new Map(),
    removable: new RemovalQueue(),
    suspicions: 0,
    healedSuspicions: 0,
    recoveredOwnStamp: 0,
  };
}

/** Returns a copy that later calls do not change. */
export function copyPartitionState(state: PartitionState): PartitionState {
  return {
    ...state,
    own: state.own.copy(),
    chains: new Map(state.chains),
    removable: state.removable.copy(),
  };
}
