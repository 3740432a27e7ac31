/** Planted faults of sites with several red logs. */
import { BUGGY_PARTITIONS } from './buggy-partitions.ts';
import { BUGGY_CHECKED } from './checked-partitions.ts';
import type { SimulationOptions } from '../../src/testing/simulator/options.ts';
import type { InjectedBug } from './injected-bugs.ts';

/** Where faults of holds show, and how: with many operations over two partitions. */
const OF_HOLDS = {
  caughtBy: ['serializability', 'strict', 'oracle', 'invariants'],
  profile: 'logs',
  overrides: { pairShare: 0.5 },
} as const;

/**
 * Sites near each other, of which one soon lacks the end of a log: strong reads and locals meet a
 * log that is behind the others.
 */
const LAGGING: Partial<SimulationOptions> = {
  siteCount: 3,
  clientCount: 8,
  operationsPerClient: 12,
  workload: 'mixed',
  thinkMeanMs: 20,
  clientTimeoutMs: 2000,
  pairShare: 0.8,
  hotRowShare: 0,
  maxLogs: 3,
  isOrdered: false,
  minDelayMs: 0,
  delayMeanMs: 4,
  lossChance: 0,
  duplicateChance: 0,
  partitionEveryMs: 250,
  partitionMeanMs: 500,
  isPartitionOneWay: true,
  isPartitionTotal: false,
  syncMeanMs: 0,
  maxWindow: 1000,
  crashEveryMs: Infinity,
  fullEveryMs: Infinity,
  pauseEveryMs: Infinity,
  deposeEveryMs: Infinity,
  loseSiteAtMs: Infinity,
  wildClockAheadMs: 0,
  giveUpChance: 0,
  moveChance: 0,
  sessionChance: 0,
};

/** The same, with messages that are lost. */
const LOSSY: Partial<SimulationOptions> = {
  ...LAGGING,
  thinkMeanMs: 2,
  delayMeanMs: 40,
  lossChance: 0.25,
  partitionEveryMs: Infinity,
};

/** Sites with transfers on top of each other, of which the last one is a global. */
const CHAINS: Partial<SimulationOptions> = {
  workload: 'chains',
  siteCount: 2,
  clientCount: 10,
  operationsPerClient: 20,
  thinkMeanMs: 1,
  minDelayMs: 20,
  delayMeanMs: 20,
  maxPipelineLength: 64,
  giveUpChance: 0,
};

/** Two clients with a global each on the same rows. All messages take nearly the same time. */
const RIVALS: Partial<SimulationOptions> = {
  ...LAGGING,
  workload: 'rivals',
  siteCount: 2,
  clientCount: 2,
  operationsPerClient: 1,
  thinkMeanMs: 5,
  clientTimeoutMs: 10_000,
  isOrdered: true,
  minDelayMs: 20,
  delayMeanMs: 0.5,
  partitionEveryMs: Infinity,
  maxAttempts: 2,
};

export const PARTITION_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule PART-G2
  'stamps-of-one-log': {
    rule: 'the stamp of a red operation is above all entries of its snapshot, also those of other logs',
    caughtBy: ['oracle'],
    profile: 'logs',
    parts: BUGGY_PARTITIONS.lowStamps,
  },
  // @rule PART-G3
  'gates-of-one-log': {
    rule: 'a red operation becomes visible only after the operations of other logs in its snapshot',
    caughtBy: ['causal order'],
    profile: 'logs',
    parts: BUGGY_PARTITIONS.narrowGate,
  },
  'gate-without-main': {
    rule: 'a gate leaves out the entry of its own log, and no other',
    caughtBy: ['causal order'],
    profile: 'logs',
    parts: BUGGY_PARTITIONS.mainGate,
    shownBy: 6,
  },
  // @rule PART-G3b
  'restarts-proven-by-main': {
    rule: 'a start knows of each log how many records were delivered',
    caughtBy: ['restarts'],
    profile: 'logs',
    overrides: { siteCount: 5, crashEveryMs: 300, redJumpChance: 0, redRegressChance: 0 },
    shownBy: 3,
    parts: BUGGY_PARTITIONS.mainCounts,
  },
  // @rule PART-B5
  'marker-of-one-log': {
    rule: 'a floor waits for a marker of its start in each red log',
    shownBy: 3,
    caughtBy: ['floors'],
    profile: 'logs',
    overrides: { removalsPerWatermark: 1, crashEveryMs: 300, maxRedInFlight: Infinity },
    parts: BUGGY_PARTITIONS.oneMarker,
  },
  // @rule PART-B5
  'floor-over-holds': {
    rule: 'a floor waits for the holds of its own executions that stand',
    caughtBy: ['floors'],
    profile: 'logs',
    overrides: {
      removalsPerWatermark: 3,
      crashEveryMs: 900,
      downMeanMs: 400,
      pairShare: 0.4,
      workload: 'mixed',
      maxLogs: 2,
      scenario: 'classic',
      syncMeanMs: 10,
      loseSiteAtMs: Infinity,
    },
    parts: BUGGY_PARTITIONS.forgottenHolds,
    shownBy: 17,
  },
  // @rule PART-G4
  'stocks-not-read': {
    rule: 'what a global takes from a field of the red order counts as read',
    caughtBy: ['stocks'],
    profile: 'logs',
    overrides: { workload: 'stocks', pairShare: 0.5 },
    parts: BUGGY_PARTITIONS.unreadStocks,
  },
  // @rule PART-G5
  'globals-on-top': {
    rule: 'a global depends on no operation in flight',
    caughtBy: ['invariants', 'oracle', 'serializability'],
    profile: 'logs',
    overrides: CHAINS,
    shownBy: 17,
    parts: BUGGY_PARTITIONS.globalsOnTop,
  },
  // @rule PART-G6
  'holds-not-certified': {
    rule: 'a hold is granted only if nothing that the global reads was written since its snapshot',
    ...OF_HOLDS,
    parts: BUGGY_PARTITIONS.uncertifiedHolds,
  },
  // @rule PART-G7
  'holds-reject-nothing': {
    rule: 'a record that overlaps a hold is rejected',
    ...OF_HOLDS,
    parts: BUGGY_PARTITIONS.noOverlap,
    shownBy: 6,
  },
  'holds-reject-writers-only': {
    rule: 'a record that reads what a hold writes is rejected',
    ...OF_HOLDS,
    parts: BUGGY_PARTITIONS.readOverlap,
    shownBy: 11,
  },
  // @rule PART-G6a
  'globals-in-parts': {
    rule: 'a global is at a site in all of its rows, or in none',
    ...OF_HOLDS,
    caughtBy: ['whole'],
    parts: BUGGY_PARTITIONS.partialGlobals,
  },
  // @rule PART-G1
  'homes-by-site': {
    rule: 'the home of an operation is the same at each site',
    caughtBy: ['exactly once', 'oracle', 'strict', 'progress'],
    profile: 'logs',
    overrides: { siteCount: 3, moveChance: 0.8, clientTimeoutMs: 150, pairShare: 0.2 },
    parts: BUGGY_PARTITIONS.homesBySite,
  },
  // @rule PART-G14
  'rows-by-site': {
    rule: 'a row is in the same partition at each site',
    ...OF_HOLDS,
    shownBy: 3,
    parts: BUGGY_PARTITIONS.rowsBySite,
  },
  // @rule PART-G7
  'holds-reject-readers-only': {
    rule: 'a record that writes what a hold reads is rejected',
    ...OF_HOLDS,
    shownBy: 15,
    parts: BUGGY_PARTITIONS.writeOverlap,
  },
  // @rule PART-G8
  'globals-before-their-holds': {
    rule: 'a site applies a global only after its holds in other logs',
    ...OF_HOLDS,
    shownBy: 50,
    parts: BUGGY_PARTITIONS.stamplessGate,
  },
  // @rule PART-G8a
  'releases-before-globals': {
    rule: 'a site takes the end of a hold only after the global',
    ...OF_HOLDS,
    overrides: LOSSY,
    shownBy: 3,
    parts: BUGGY_PARTITIONS.earlyReleases,
  },
  // @rule PART-G8c
  'no-aborts': {
    rule: 'a global of which a hold is missing is aborted',
    ...OF_HOLDS,
    caughtBy: ['progress'],
    overrides: { pairShare: 0.5, siteCount: 3, crashEveryMs: 400 },
    shownBy: 53,
    parts: BUGGY_PARTITIONS.noAborts,
  },
  // @rule PART-G16
  'globals-not-looked-at': {
    rule: 'a coordinator looks at each execution of which something has come, or for which a time has come',
    ...OF_HOLDS,
    caughtBy: ['crash'],
    parts: BUGGY_CHECKED.forgetful,
  },
  // @rule PART-G8d
  'globals-without-a-window': {
    rule: 'a global whose snapshot is older than the window is rejected',
    ...OF_HOLDS,
    overrides: { pairShare: 0.7, maxWindowCommits: 5 },
    shownBy: 6,
    parts: BUGGY_PARTITIONS.windowlessGlobals,
  },
  // @rule PART-G8e
  'refusals-not-counted': {
    rule: 'a refused global waits before it is executed again, for longer after each refusal',
    caughtBy: ['rivals'],
    profile: 'logs',
    overrides: RIVALS,
    parts: BUGGY_PARTITIONS.uncountedRefusals,
    shownBy: 14,
  },
  // @rule PART-G8g
  'checkpoint-without-holds': {
    rule: 'a checkpoint has the holds that stand',
    ...OF_HOLDS,
    caughtBy: ['progress', 'convergence', 'oracle', 'strict', 'serializability', 'crash'],
    overrides: { pairShare: 0.5, crashEveryMs: 400, checkpointBytes: 500 },
    parts: BUGGY_PARTITIONS.unsavedHolds,
  },
  // @rule PART-G9
  'reads-beside-holds': {
    rule: 'a strong read waits for the end of a hold that writes what it reads',
    ...OF_HOLDS,
    caughtBy: ['strict', 'oracle'],
    overrides: LAGGING,
    shownBy: 131,
    parts: BUGGY_PARTITIONS.passingReads,
  },
  // @rule PART-G10
  'unchecked-strong-reads': {
    rule: 'a strong read of several partitions fails if what it has read was written meanwhile',
    ...OF_HOLDS,
    caughtBy: ['strict', 'oracle', 'serializability'],
    overrides: LAGGING,
    shownBy: 57,
    parts: BUGGY_PARTITIONS.uncheckedReads,
  },
};
