/** Counts of a binding to a store with replicas. */

export interface ReplicaStats {
  /** Preliminary views of replicas that were shown. */
  readonly replicaViews: number;
  /** Views of replicas that were not shown, since they were behind a session. */
  readonly behindSession: number;
  /** Replicas that did not answer a read. */
  readonly replicaFailures: number;
  /**
   * Reads of the primary that were repeated, since the primary was behind what a replica or the
   * session had shown.
   */
  readonly repeatedFinals: number;
  /** Final views with another value than the preliminary view before them. */
  readonly corrected: number;
}

export type MutableReplicaStats = {
  -readonly [K in keyof ReplicaStats]: number;
};

export function createReplicaStats(): MutableReplicaStats {
  return {
    replicaViews: 0,
    behindSession: 0,
    replicaFailures: 0,
    repeatedFinals: 0,
    corrected: 0,
  };
}
