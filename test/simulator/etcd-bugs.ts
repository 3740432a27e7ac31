/** Planted faults in the log on etcd. */
import type { SimulationOptions } from '../../src/testing/simulator/options.ts';
import { BUGGY_ETCD_LOGS } from './buggy-etcd-logs.ts';
import type { InjectedBug } from './injected-bugs.ts';

/** Sites that crash while their writes are on their way. */
const LATE: Partial<SimulationOptions> = {
  siteCount: 3,
  etcdLateChance: 0.5,
  etcdLossChance: 0.1,
  etcdDelayMeanMs: 20,
  crashEveryMs: 300,
  downMeanMs: 50,
  thinkMeanMs: 10,
};

/** Few things happen at once, and a watch leaves events out. */
const DROPPING: Partial<SimulationOptions> = {
  siteCount: 3,
  clientCount: 2,
  thinkMeanMs: 300,
  delayMeanMs: 1,
  minDelayMs: 0,
  syncMeanMs: 2,
  etcdDelayMeanMs: 1,
  etcdLossChance: 0,
  etcdLateChance: 0,
  etcdFaultEveryMs: Infinity,
  etcdPutBackAtMs: Infinity,
  crashEveryMs: Infinity,
  etcdDropChance: 0.1,
};

/** Disks are put back while a site has not read for a time. */
const PUT_BACK: Partial<SimulationOptions> = {
  siteCount: 3,
  thinkMeanMs: 20,
  etcdPutBackAtMs: 600,
  etcdFaultEveryMs: Infinity,
  crashEveryMs: Infinity,
};

/** Checkpoints are made at different times. */
const TRIMMING: Partial<SimulationOptions> = {
  siteCount: 3,
  checkpointBytes: 500,
  crashEveryMs: 500,
  thinkMeanMs: 5,
};

const CAUGHT_BY = [
  'red total order',
  'oracle',
  'convergence',
  'exactly once',
  'serializability',
  'durability',
  'progress',
  'leftovers',
  'crash',
  'invariants',
  'floors',
  'causal order',
  'queues',
  'accounts',
  'members',
] as const;

/** By name. */
export const ETCD_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule ETCD-W2
  'etcd-numbers-that-go-on': {
    rule: 'each start of a site numbers its records from 1 on',
    shownBy: 10,
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: LATE,
    parts: BUGGY_ETCD_LOGS.endlessNumbers,
  },
  'etcd-void-groups-count': {
    rule: 'a group of a start that has ended counts at no site',
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: LATE,
    parts: BUGGY_ETCD_LOGS.lenient,
  },
  'etcd-starts-beside-each-other': {
    rule: 'the first group of a later start ends the one before it',
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: LATE,
    parts: BUGGY_ETCD_LOGS.everyStart,
  },
  'etcd-digests-not-compared': {
    rule: 'a site that has other entries than the proposer of a group takes nothing more',
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: DROPPING,
    parts: BUGGY_ETCD_LOGS.blind,
  },
  'etcd-other-sites-not-asked': {
    rule: 'a site proposes only what comes after all that other sites have',
    shownBy: 7,
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: PUT_BACK,
    parts: BUGGY_ETCD_LOGS.unconfirmed,
  },
  // @rule ETCD-F1
  'etcd-revisions-as-positions': {
    rule: 'a position counts entries, and is no revision of etcd',
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    parts: BUGGY_ETCD_LOGS.revisions,
  },
  'etcd-delivered-before-synced': {
    rule: 'what is delivered is synced at the site, too',
    shownBy: 28,
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: { syncMeanMs: 150, crashEveryMs: 300, checkpointBytes: 500, largeGroup: 1 },
    parts: BUGGY_ETCD_LOGS.unsynced,
  },
  'etcd-two-groups-in-flight': {
    rule: 'a site has one group in flight',
    shownBy: 8,
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: { ...LATE, crashEveryMs: Infinity, clientCount: 4, operationsPerClient: 10 },
    parts: BUGGY_ETCD_LOGS.hasty,
  },
  // @rule PART-G15
  'etcd-keys-of-main': {
    rule: 'each red log has keys of its own',
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: { siteCount: 3, maxLogs: 3, thinkMeanMs: 20 },
    parts: BUGGY_ETCD_LOGS.mainKeys,
  },
  'etcd-trimmed-too-far': {
    rule: 'what a site lacks is not trimmed, or else the site knows that it is behind',
    shownBy: 10,
    caughtBy: CAUGHT_BY,
    profile: 'etcd',
    overrides: TRIMMING,
    parts: BUGGY_ETCD_LOGS.gapless,
  },
};
