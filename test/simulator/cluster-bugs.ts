/** Planted faults in how members change, and in how nodes tell who they are. */
import {
  BUGGY_CLUSTERS,
  createFarSite,
  createSiteWithoutEndings,
  mergeIntoOldRows,
  mergeWithoutTail,
} from './buggy-clusters.ts';
import { BoastfulDigest } from './buggy-digests.ts';
import type { InjectedBug } from './injected-bugs.ts';
import type { SimulationOptions } from '../../src/testing/simulator/options.ts';

/** Sites of which one is closed: the others have not all heard the same of it. */
const CLOSING: Partial<SimulationOptions> = {
  siteCount: 3,
  rebuildAtMs: 700,
  joinAtMs: Infinity,
  retireAtMs: 300,
  awayAtMs: Infinity,
  partitionEveryMs: 300,
  partitionMeanMs: 300,
  thinkMeanMs: 20,
};

/**
 * A site is rebuilt, and clients retry elsewhere, late, what it had executed. Without other faults,
 * since the site has to pass an operation on before it is lost.
 */
const LATE_RETRIES: Partial<SimulationOptions> = {
  ...CLOSING,
  retireAtMs: Infinity,
  oldDirectoryAtMs: Infinity,
  twinAtMs: Infinity,
  distantTwinAtMs: Infinity,
  partitionEveryMs: Infinity,
  pauseEveryMs: Infinity,
  crashEveryMs: Infinity,
  fullEveryMs: Infinity,
  clockStepEveryMs: Infinity,
  wildClockAheadMs: 0,
  lossChance: 0,
  minDelayMs: 0,
  delayMeanMs: 3,
  syncMeanMs: 20,
  instantWriteShare: 0,
  checkpointBytes: Infinity,
  workload: 'mixed',
  clientCount: 20,
  operationsPerClient: 6,
  sessionChance: 0,
  moveChance: 1,
  giveUpChance: 0,
  thinkMeanMs: 400,
  clientTimeoutMs: 25,
};

/** A directory is put back to an older copy. */
const OLD_DIRECTORY: Partial<SimulationOptions> = {
  ...CLOSING,
  rebuildAtMs: Infinity,
  retireAtMs: Infinity,
  oldDirectoryAtMs: 100,
};

/** Many operations wait for a slow disk, so that digests grow, and other sites are late. */
const GROWING_DIGESTS: Partial<SimulationOptions> = {
  digestPlaces: 4,
  siteCount: 3,
  clientCount: 20,
  operationsPerClient: 10,
  thinkMeanMs: 1,
  syncMeanMs: 100,
  instantWriteShare: 0,
  workload: 'mixed',
  maxWindow: 1000,
  lossChance: 0.4,
  isOrdered: false,
  delayMeanMs: 30,
  clientTimeoutMs: 2000,
};

/** The leader of a log beside `main` is to be retired. */
const RETIRED_LEADER: Partial<SimulationOptions> = {
  siteCount: 3,
  maxLogs: 3,
  scenario: 'classic',
  workload: 'mixed',
  joinAtMs: 1000,
  rebuildAtMs: Infinity,
  retireLeaderAtMs: 300,
  oldDirectoryAtMs: Infinity,
  twinAtMs: Infinity,
  distantTwinAtMs: Infinity,
};

/** One of the two voters of a log is rebuilt. */
const REBUILT_VOTER: Partial<SimulationOptions> = {
  siteCount: 3,
  maxLogs: 3,
  hasFewVoters: true,
  scenario: 'classic',
  workload: 'mixed',
  rebuildAtMs: 300,
};

/** A site joins while all work. */
const JOINING: Partial<SimulationOptions> = { siteCount: 3, joinAtMs: 300, thinkMeanMs: 20 };

/** A site is away for longer than others keep what it lacks. */
const AWAY: Partial<SimulationOptions> = {
  siteCount: 3,
  awayAtMs: 300,
  awayForMs: 1000,
  keepForMs: 300,
  maxBacklogEntries: 3,
  thinkMeanMs: 20,
};

/** Two halves are apart for longer than either keeps what the other one lacks. */
const CAMPS: Partial<SimulationOptions> = {
  siteCount: 4,
  partitionEveryMs: 500,
  partitionMeanMs: 1500,
  keepForMs: 300,
  maxBacklogEntries: 3,
  thinkMeanMs: 20,
};

/** By name. */
export const CLUSTER_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule CLU-I6
  'digests-of-forgotten-places': {
    rule: 'a place that a site has forgotten has no digest there',
    caughtBy: ['forks'],
    profile: 'lossy',
    overrides: GROWING_DIGESTS,
    parts: { PrefixDigest: BoastfulDigest },
  },
  'ends-at-the-leader': {
    rule: 'a closed stream ends with the last operation that any site holds',
    shownBy: 61,
    caughtBy: ['members', 'durability', 'convergence'],
    profile: 'cluster',
    overrides: CLOSING,
    parts: BUGGY_CLUSTERS.leaderEnds,
  },
  'messages-of-closed-sites': {
    rule: 'nothing is taken of a site itself once it is being closed',
    caughtBy: ['progress', 'members', 'convergence'],
    profile: 'cluster',
    overrides: CLOSING,
    parts: BUGGY_CLUSTERS.openDoor,
    shownBy: 35,
  },
  'sessions-beyond-the-end': {
    rule: 'what a session has seen beyond the end of a closed stream is not waited for',
    caughtBy: ['sessions'],
    profile: 'cluster',
    overrides: { ...CLOSING, sessionChance: 1 },
    parts: BUGGY_CLUSTERS.endlessSessions,
    shownBy: 41,
  },
  // @rule PART-M15
  'members-of-main': {
    rule: 'which records are void in a red log follows from the copies of the members in its own prefix',
    caughtBy: ['oracle', 'convergence', 'exactly once', 'progress'],
    profile: 'cluster',
    overrides: { ...CLOSING, maxLogs: 3, scenario: 'classic', workload: 'mixed', thinkMeanMs: 5 },
    parts: BUGGY_CLUSTERS.mainMembers,
    shownBy: 76,
  },
  // @rule PART-M15
  'changes-without-copies': {
    rule: 'a site confirms a change only once each red log has the members',
    caughtBy: ['oracle', 'convergence', 'exactly once', 'progress', 'members'],
    profile: 'cluster',
    overrides: { ...CLOSING, maxLogs: 3, scenario: 'classic', workload: 'mixed', thinkMeanMs: 5 },
    parts: BUGGY_CLUSTERS.noCopies,
  },
  // @rule PART-M16
  'retired-leader-of-a-log': {
    rule: 'a change is void if it closes the leader of any red log',
    caughtBy: ['progress'],
    profile: 'cluster',
    overrides: RETIRED_LEADER,
    parts: BUGGY_CLUSTERS.mainLeaders,
  },
  // @rule PART-M17
  'voters-of-the-start': {
    rule: 'a rebuilt site takes the place of its earlier incarnation among the voters',
    shownBy: 3,
    caughtBy: ['progress', 'leftovers'],
    profile: 'cluster',
    overrides: REBUILT_VOTER,
    parts: BUGGY_CLUSTERS.firstVoters,
  },
  'homes-without-incarnation': {
    rule: 'an operation whose home was closed is not executed there',
    shownBy: 4,
    caughtBy: ['exactly once'],
    profile: 'cluster',
    overrides: LATE_RETRIES,
    parts: BUGGY_CLUSTERS.homes,
  },
  'joined-one-too-far': {
    rule: 'a new site begins where the state that it was given ends',
    caughtBy: ['forks', 'oracle', 'convergence', 'causal order'],
    profile: 'cluster',
    overrides: JOINING,
    parts: { createSiteFromShared: createFarSite },
  },
  'returned-without-its-end': {
    rule: 'a site that returns keeps the end of its own stream',
    caughtBy: ['forks', 'durability', 'exactly once', 'oracle', 'convergence'],
    profile: 'cluster',
    overrides: AWAY,
    parts: { mergeSharedIntoSite: mergeWithoutTail },
    shownBy: 6,
  },
  'returned-with-its-old-rows': {
    rule: 'a site that returns has the rows of the state that it was given',
    caughtBy: [
      'oracle',
      'convergence',
      'invariants',
      'serializability',
      'queues',
      'accounts',
      'rights',
      'crash',
    ],
    profile: 'cluster',
    overrides: AWAY,
    parts: { mergeSharedIntoSite: mergeIntoOldRows },
  },
  'minority-leaves-behind': {
    rule: 'only a site that keeps a majority of the sites leaves others behind',
    shownBy: 47,
    caughtBy: ['convergence', 'progress'],
    profile: 'cluster',
    overrides: CAMPS,
    parts: BUGGY_CLUSTERS.minorities,
  },
  'joined-without-endings': {
    rule: 'a new site knows which red operations have ended',
    shownBy: 3,
    caughtBy: ['exactly once', 'oracle', 'convergence', 'red total order'],
    profile: 'cluster',
    overrides: { ...JOINING, crashEveryMs: 300, moveChance: 0.8, clientTimeoutMs: 100 },
    parts: { createSiteFromShared: createSiteWithoutEndings },
  },
  'old-directory-with-all-of-its-stream': {
    rule: 'a start that does not know the last one of its site stops, though it has all of its stream',
    caughtBy: ['progress', 'exactly once', 'durability'],
    profile: 'cluster',
    overrides: { ...OLD_DIRECTORY, crashEveryMs: Infinity, thinkMeanMs: 300, downMeanMs: 20 },
    parts: BUGGY_CLUSTERS.unknownStarts,
  },
  'old-directory-without-peer': {
    rule: 'a start takes no update before another site has accepted it',
    shownBy: 17,
    caughtBy: ['red total order', 'oracle', 'causal order', 'exactly once', 'durability'],
    profile: 'cluster',
    overrides: { ...OLD_DIRECTORY, thinkMeanMs: 10, minDelayMs: 20 },
    parts: BUGGY_CLUSTERS.hastyStarts,
  },
};
