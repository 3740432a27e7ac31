/** Planted faults of sites with several red logs. */
import { BUGGY_PARTITIONS } from './buggy-partitions.ts';
import type { InjectedBug } from './injected-bugs.ts';

/** Where faults of holds show, and how: with many operations over two partitions. */
const OF_HOLDS = {
  caughtBy: ['serializability', 'oracle', 'invariants'],
  profile: 'logs',
  overrides: { pairShare: 0.5 },
} as const;

export const PARTITION_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule PART-G2
  'stamps-of-one-log': {
    rule: 'the stamp of a red operation is above all entries of its snapshot, also those of other logs',
    caughtBy: ['oracle'],
    profile: 'logs',
    makeMachine: BUGGY_PARTITIONS.lowStamps,
  },
  // @rule PART-G3
  'gates-of-one-log': {
    rule: 'a red operation becomes visible only after the operations of other logs in its snapshot',
    caughtBy: ['causal order'],
    profile: 'logs',
    makeMachine: BUGGY_PARTITIONS.narrowGate,
  },
  'gate-without-main': {
    rule: 'a gate leaves out the entry of its own log, and no other',
    caughtBy: ['causal order'],
    profile: 'logs',
    makeMachine: BUGGY_PARTITIONS.mainGate,
  },
  // @rule PART-B5
  'marker-of-one-log': {
    rule: 'a floor waits for a marker of its start in each red log',
    caughtBy: ['floors'],
    profile: 'logs',
    overrides: { removalsPerWatermark: 1, crashEveryMs: 300, maxRedInFlight: Infinity },
    makeMachine: BUGGY_PARTITIONS.oneMarker,
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
    makeMachine: BUGGY_PARTITIONS.forgottenHolds,
  },
  // @rule PART-G6
  'holds-not-certified': {
    rule: 'a hold is granted only if nothing that the global reads was written since its snapshot',
    ...OF_HOLDS,
    makeMachine: BUGGY_PARTITIONS.uncertifiedHolds,
  },
  // @rule PART-G7
  'holds-reject-nothing': {
    rule: 'a record that overlaps a hold is rejected',
    ...OF_HOLDS,
    makeMachine: BUGGY_PARTITIONS.noOverlap,
  },
  'holds-reject-writers-only': {
    rule: 'a record that reads what a hold writes is rejected',
    ...OF_HOLDS,
    makeMachine: BUGGY_PARTITIONS.readOverlap,
  },
  // @rule PART-G6a
  'globals-in-parts': {
    rule: 'a global is at a site in all of its rows, or in none',
    ...OF_HOLDS,
    caughtBy: ['whole'],
    makeMachine: BUGGY_PARTITIONS.partialGlobals,
  },
};
