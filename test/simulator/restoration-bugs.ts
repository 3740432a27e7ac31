/** Planted faults in how red logs are restored at other sites, and in who leads one. */
import { findLogVoters } from '../../src/server/node/red-log/log-voters.ts';
import type { SimulationOptions } from '../../src/testing/simulator/options.ts';
import type { ClusterSteps } from '../../src/testing/simulator/cluster/cluster-steps.ts';
import { BUGGY_CLUSTERS } from './buggy-clusters.ts';
import type { InjectedBug } from './injected-bugs.ts';

/** Sites of which some lack the end of a log when others go away. */
const LAGGING: Partial<SimulationOptions> = {
  siteCount: 3,
  acceptsLoss: false,
  restoreAtMs: 500,
  thinkMeanMs: 10,
  delayMeanMs: 40,
  joinAtMs: Infinity,
  retireAtMs: Infinity,
  rebuildAtMs: Infinity,
  awayAtMs: Infinity,
};

/**
 * Confirmed records are lost, and few operations come after that. Otherwise a later red operation
 * covers what an opening has to.
 */
const LOSING: Partial<SimulationOptions> = {
  ...LAGGING,
  acceptsLoss: true,
  restoreAtMs: 450,
  clientCount: 5,
  operationsPerClient: 6,
  thinkMeanMs: 80,
  moveChance: 0,
  giveUpChance: 0,
  partitionEveryMs: Infinity,
  crashEveryMs: Infinity,
  maxSkewMs: 0,
};

/** All voters of a log are lost for good. */
const WITHOUT_VOTERS: Partial<SimulationOptions> = {
  ...LAGGING,
  siteCount: 4,
  maxLogs: 3,
  acceptsLoss: true,
  hasFewVoters: true,
  maxWindow: 1000,
};

/** The leader of a log beside `main` starts on an older copy of its directory. */
const OLD_LEADER: Partial<SimulationOptions> = {
  ...LAGGING,
  restoreAtMs: Infinity,
  oldLeaderAtMs: 100,
  maxLogs: 3,
  workload: 'hot',
  thinkMeanMs: 60,
  delayMeanMs: 10,
  partitionEveryMs: Infinity,
  crashEveryMs: Infinity,
  fullEveryMs: Infinity,
  deposeEveryMs: Infinity,
};

const restored = (parts: Partial<ClusterSteps>, overrides: Partial<SimulationOptions> = LAGGING) =>
  ({ profile: 'restored', overrides, parts }) as const;

/** By name. */
export const RESTORATION_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule PART-G11, CLU-G3
  'restored-at-the-shortest-copy': {
    rule: 'a red log goes on from the longest copy',
    caughtBy: ['durability', 'red total order', 'oracle', 'convergence', 'progress'],
    ...restored({
      chooseCopy: ({ partition }, sealed) =>
        sealed
          .map(({ site, copies }) => ({ ...copies[partition]!, site }))
          .reduce((a, b) => (b.length < a.length ? b : a)),
    }),
    shownBy: 3,
  },
  // @rule PART-G11
  'returned-with-the-end-of-its-log': {
    rule: 'a returning site drops what the restored log does not have',
    caughtBy: ['forks', 'red total order', 'oracle', 'convergence', 'progress'],
    ...restored({ countShared: ({ length }) => length }),
  },
  // @rule PART-G11a
  'restored-without-a-majority': {
    rule: 'each majority of the voters of a log contains a sealed site',
    shownBy: 7,
    caughtBy: ['durability', 'red total order', 'oracle', 'convergence', 'progress'],
    ...restored({ findLosing: () => [] }),
  },
  // @rule PART-G12
  'restored-without-an-opening': {
    rule: 'a log that may have lost confirmed records begins with an opening',
    shownBy: 46,
    caughtBy: ['durability', 'convergence', 'progress'],
    ...restored({ mergeNamedEntries: () => undefined }, LOSING),
  },
  // @rule PART-M18
  'restored-for-lost-voters': {
    rule: 'all open sites are voters of a log whose named voters were all lost',
    caughtBy: ['progress', 'durability'],
    ...restored(
      { findLogVoters: (...found) => ({ ...findLogVoters(...found), isVotedByAll: false }) },
      WITHOUT_VOTERS,
    ),
  },
  // @rule PART-I4
  'old-end-of-a-log': {
    rule: 'the leader of a red log stops if another site has more of it',
    caughtBy: [
      'red total order',
      'oracle',
      'convergence',
      'durability',
      'exactly once',
      'progress',
    ],
    profile: 'restored',
    overrides: OLD_LEADER,
    parts: BUGGY_CLUSTERS.mainEnds,
  },
};
