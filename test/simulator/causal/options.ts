/**
 * What a simulated run of the causal store goes through, drawn from its seed. All times in
 * milliseconds.
 */
import type { Random } from '../../../src/server/service/collections/random.ts';

export interface CausalRunOptions {
  readonly siteCount: number;
  readonly partitionCount: number;
  readonly keyCount: number;
  readonly clientsPerSite: number;
  readonly operationsPerClient: number;
  readonly thinkMeanMs: number;
  readonly localDelayMs: number;
  readonly remoteDelayMs: number;
  readonly lossChance: number;
  readonly repeatChance: number;
  /** How far the clocks of two partitions are apart at most. */
  readonly clockOffsetMs: number;
  /** How often a clock is set, by up to `clockStepMs`. */
  readonly clockStepEveryMs: number;
  readonly clockStepMs: number;
  /** How often a partition is set back to an older copy of itself. */
  readonly setBackEveryMs: number;
  /** How often a gateway starts again with empty memory. */
  readonly restartEveryMs: number;
  /** How often a gateway that starts again finds no published view. */
  readonly losesViewsChance: number;
  /** How often two sites are cut from each other. */
  readonly cutEveryMs: number;
  readonly cutMeanMs: number;
  readonly removeChance: number;
  readonly ttlChance: number;
  readonly moveChance: number;
  readonly latestChance: number;
  readonly coordinatorChance: number;
  readonly maxVersions: number;
  readonly keepVersionsMs: number;
  readonly maxOwnEntries: number;
  readonly maxPulledEntries: number;
  readonly maxScannedKeys: number;
  readonly keepTombstonesMs: number;
  readonly gatewaysPerSite: number;
  /** How often all data of a partition is deleted, without a pause. */
  readonly flushEveryMs: number;
}

/** Clocks may be off by this much (CAUSAL-8). */
export const MAX_CLOCK_SKEW_MS = 100;
/** A gateway waits for a reply of its own site for this long, and of another site longer. */
export const LOCAL_TIMEOUT_MS = 120;
export const REMOTE_TIMEOUT_MS = 500;
/** A failover takes longer than the clocks of a site are apart, which CAUSAL-13 relies on. */
export const FAILOVER_MS = 400;
/**
 * Repeated writes are recognized for this long (CAUSAL-17), which is longer than any client repeats
 * one.
 */
export const KEEP_IDS_MS = 10_000;

/**
 * Draws the options of a run. Half of the runs have no fault of one kind, so that rules are seen
 * alone.
 */
export function drawOptions(random: Random): CausalRunOptions {
  const sometimes = (chance: number, everyMs: number): number =>
    random.chance(chance) ? everyMs : Infinity;
  const isLossy = random.chance(0.5);
  // A clock that jumps and a failover at once break what CAUSAL-13 relies on.
  const hasWildClocks = random.chance(0.2);
  // Deletes are forgotten only if no site is behind for so long (CAUSAL-18).
  const isCalm = !isLossy && !hasWildClocks && random.chance(0.3);
  const setBackEveryMs = isCalm || hasWildClocks ? Infinity : sometimes(0.4, 600);
  return {
    siteCount: random.pick([1, 2, 2, 2, 3, 3]),
    partitionCount: random.pick([1, 2, 2, 3, 4]),
    keyCount: random.pick([2, 3, 5, 8]),
    clientsPerSite: random.pick([2, 3, 4]),
    operationsPerClient: random.pick([15, 30, 50]),
    thinkMeanMs: random.pick([2, 5, 20]),
    localDelayMs: random.pick([0.3, 1, 4]),
    remoteDelayMs: isCalm ? 2 : random.pick([2, 10, 40]),
    lossChance: isLossy ? random.pick([0.01, 0.05, 0.15]) : 0,
    repeatChance: isLossy ? random.pick([0, 0.05, 0.2]) : 0,
    clockOffsetMs: random.pick([0, 1, 10, 40]),
    clockStepEveryMs: hasWildClocks ? 150 : sometimes(0.3, 100),
    clockStepMs: hasWildClocks ? 3_000 : 40,
    setBackEveryMs,
    restartEveryMs: sometimes(0.3, 300),
    // A lost view and a failover at once break what CAUSAL-13 relies on too.
    losesViewsChance: setBackEveryMs === Infinity ? random.pick([0, 0.5, 1]) : 0,
    cutEveryMs: isCalm ? Infinity : sometimes(0.4, 300),
    cutMeanMs: random.pick([50, 200, 600]),
    removeChance: random.pick([0, 0.1, 0.3]),
    ttlChance: random.pick([0, 0.2]),
    moveChance: random.pick([0, 0.05, 0.2]),
    latestChance: random.pick([0, 0.1]),
    coordinatorChance: random.pick([0, 0.5]),
    maxVersions: random.pick([1, 3, 32]),
    keepVersionsMs: random.pick([0, 20, 100, 1_000]),
    maxOwnEntries: random.pick([3, 20, 100_000]),
    maxPulledEntries: isCalm ? 200 : random.pick([1, 3, 200]),
    maxScannedKeys: random.pick([1, 2, 500]),
    keepTombstonesMs: isCalm ? 1_000 : 1_000_000,
    gatewaysPerSite: random.pick([1, 2, 2]),
    flushEveryMs: setBackEveryMs !== Infinity && random.chance(0.3) ? 600 : Infinity,
  };
}
