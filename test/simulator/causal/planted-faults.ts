/**
 * Planted faults of the causal store: each leaves out one rule. A simulator that does not catch
 * them proves nothing. They live here only; nothing in production can be switched to them.
 */
import { CausalSite, type CausalSiteOptions } from '../../../src/causal/causal-site.ts';
import type { ApplyRequest, PartitionPort } from '../../../src/causal/partition-calls.ts';
import { Partition } from '../../../src/causal/partition.ts';
import { Stabilizer } from '../../../src/causal/stabilizer.ts';
import {
  maxVector,
  minVector,
  raiseStamp,
  type SiteIndex,
  type Stamp,
} from '../../../src/causal/stamps.ts';
import { findVisibleVersion, getVersions } from '../../../src/causal/version-chain.ts';
import { replaceArguments, replaceMethods } from '../../support/replace-methods.ts';
import type { CausalRunOptions } from './options.ts';
import type { CausalFault } from './world.ts';

export interface PlantedCausalFault extends CausalFault {
  readonly rule: string;
  /** Names of the checkers of which one has to notice. */
  readonly caughtBy: readonly string[];
  /** Options in the place of drawn ones: what makes the fault likely to show. */
  readonly overrides?: Partial<CausalRunOptions>;
  /** For a fault that shows itself seldom: a seed that did show it, with which tests begin. */
  readonly shownBy?: number;
}

/** All partitions far apart in time, so that no stamp is above another by chance. */
const APART: Partial<CausalRunOptions> = {
  clockOffsetMs: 40,
  clockStepMs: 40,
  partitionCount: 3,
  thinkMeanMs: 2,
};
const SEVERAL_SITES: Partial<CausalRunOptions> = {
  siteCount: 3,
  partitionCount: 3,
  clockStepMs: 40,
  moveChance: 0.2,
};
const SET_BACK: Partial<CausalRunOptions> = {
  siteCount: 2,
  setBackEveryMs: 250,
  restartEveryMs: Infinity,
  clockStepMs: 40,
  thinkMeanMs: 5,
  operationsPerClient: 50,
};
const ONE_GATEWAY: Partial<CausalRunOptions> = { gatewaysPerSite: 1, flushEveryMs: Infinity };
const SHORT_CHAINS: Partial<CausalRunOptions> = {
  maxVersions: 1,
  keepVersionsMs: 0,
  thinkMeanMs: 2,
  keyCount: 2,
};

/** Sites are cut for longer than deletes are remembered, and must then copy all. */
export const LONG_CUTS: Partial<CausalRunOptions> = {
  siteCount: 2,
  setBackEveryMs: Infinity,
  restartEveryMs: Infinity,
  clockOffsetMs: 0,
  clockStepEveryMs: Infinity,
  cutEveryMs: 100,
  cutMeanMs: 600,
  lossChance: 0,
  repeatChance: 0,
  removeChance: 0.3,
  latestChance: 0,
  maxOwnEntries: 3,
  keepTombstonesMs: 300,
};

/** Without this second check, a snapshot that is too new is torn instead of refused. */
const BehindNotChecked = replaceMethods(Partition, () => ({ isBehind: () => false }));

/** Replaces the calls of a site to partitions. */
const withPort = (
  change: (port: PartitionPort, site: SiteIndex) => PartitionPort['call'],
): typeof CausalSite =>
  replaceArguments(CausalSite, (options, ...others) => {
    const { port, site } = options;
    const changed: PartitionPort = {
      getSiteView: (other, onReply) => port.getSiteView(other, onReply),
      call: change(port, site),
    };
    return [{ ...options, port: changed }, ...others];
  });

/** Replaces what the other one of two sites reports of what it has received. */
const mishear = (received: Stamp): typeof CausalSite =>
  withPort((port, site) => (address, name, request, onReply) => {
    port.call(address, name, request, (reply) => {
      const isOfOther = address.site !== site && 'received' in reply;
      onReply(isOfOther ? ({ ...reply, received: [received, received] } as never) : reply);
    });
  });

/** The ports of the sites that take what another gateway has healed, at this moment. */
const TAKING = new Set<PartitionPort>();

const WithoutAlarms = replaceArguments(CausalSite, (options, ...others) => {
  const onAlarm: CausalSiteOptions['onAlarm'] = (alarm) => {
    if (!TAKING.has(options.port)) options.onAlarm(alarm);
  };
  return [{ ...options, onAlarm }, ...others];
});

/**
 * Knows what it has seen itself, and leaves the alarm to the gateway that has healed the partition.
 */
const TakesHealsSilently = replaceMethods(WithoutAlarms, (original, { port }) => ({
  observeView: (view) => {
    TAKING.add(port);
    const isNewer = (at: Stamp, index: number): boolean =>
      at > original.stabilizer.getHealedAt(index);
    const lastSeen = view.lastSeen.map((seen, index) =>
      isNewer(view.healedAt[index] ?? 0, index) ? seen : 0,
    );
    original.observeView({ ...view, lastSeen });
    TAKING.delete(port);
  },
}));

const TORN = ['torn', 'session', 'order', 'alarms', 'visibility', 'convergence'];

/** All planted faults by name. */
export const PLANTED_CAUSAL_FAULTS: Readonly<Record<string, PlantedCausalFault>> = {
  'causal-stamp-without-dependencies': {
    parts: {
      Partition: replaceMethods(Partition, () => ({ getHighestDependency: () => 0 })),
    },
    rule: 'CAUSAL-1: a stamp is above all that the write depends on',
    caughtBy: TORN,
    overrides: APART,
  },
  'causal-stamp-below-overwritten': {
    parts: {
      Partition: replaceMethods(Partition, (original) => ({
        chooseStamp: ({ dependencies }, _chain, now) =>
          Math.max(now, original.state.clock + 1, original.getHighestDependency(dependencies) + 1),
      })),
    },
    rule: 'CAUSAL-2: a stamp is above the visible version that the write overwrites',
    caughtBy: ['overwrite'],
    overrides: {
      ...APART,
      clockOffsetMs: 80,
      siteCount: 2,
      keyCount: 2,
      remoteDelayMs: 2,
      thinkMeanMs: 20,
    },
    shownBy: 56,
  },
  'causal-snapshot-of-received': {
    parts: {
      Partition: BehindNotChecked,
      Stabilizer: replaceMethods(Stabilizer, (original) => ({
        computeStable: (received) => {
          const known = received.filter((vector) => vector !== undefined);
          return known.reduce(maxVector, original.computeStable(received));
        },
      })),
    },
    rule: 'CAUSAL-3: a snapshot has only what is stable',
    caughtBy: ['torn'],
    overrides: SEVERAL_SITES,
    shownBy: 18,
  },
  'causal-read-leaves-clock': {
    parts: {
      Partition: replaceMethods(Partition, () => ({ raiseClockTo: () => {} })),
    },
    rule: 'CAUSAL-4: no later write is in a snapshot that was read',
    caughtBy: TORN,
    overrides: { ...APART, clockOffsetMs: 80, localDelayMs: 4, siteCount: 1 },
    shownBy: 64,
  },
  'causal-gap-ignored': {
    parts: {
      Partition: replaceMethods(Partition, () => ({
        findVersion: (chain, snapshot) => {
          const found = findVisibleVersion(chain, snapshot);
          return found === 'TOO_OLD' ? undefined : found;
        },
      })),
    },
    rule: 'CAUSAL-7: what was dropped does not read as absent',
    caughtBy: ['torn', 'session'],
    overrides: SHORT_CHAINS,
  },
  'causal-promise-above-unsent': {
    parts: {
      Partition: replaceMethods(Partition, (original) => ({
        choosePromise: () => original.state.clock,
      })),
    },
    rule: 'CAUSAL-10: a promise covers no entry that stays behind',
    caughtBy: TORN,
    overrides: { siteCount: 2, maxPulledEntries: 1 },
  },
  'causal-promise-above-clock': {
    parts: {
      Partition: replaceMethods(Partition, (original) => ({
        choosePromise: (entries, lastSent) => original.choosePromise(entries, lastSent) + 5_000,
        getConfirmedStamp: () => Infinity,
      })),
    },
    rule: 'CAUSAL-10: no later write is below a promise',
    caughtBy: TORN,
    overrides: { siteCount: 2, maxPulledEntries: 200 },
  },
  'causal-promise-unconfirmed': {
    parts: {
      Partition: replaceMethods(Partition, () => ({ getConfirmedStamp: () => Infinity })),
    },
    rule: 'CAUSAL-10: a partition that has lost writes promises nothing about them',
    caughtBy: TORN,
    overrides: { ...SET_BACK, siteCount: 3, partitionCount: 1, cutEveryMs: 300, remoteDelayMs: 40 },
    shownBy: 40,
  },
  'causal-cursor-before-versions': {
    parts: {
      // A crash between two steps: the versions come with the next call only.
      Partition: replaceMethods(Partition, (original) => {
        let late: ApplyRequest | undefined;
        return {
          apply: (request, now) => {
            const reply = original.apply({ ...request, entries: late?.entries ?? [] }, now);
            if (!('refused' in reply)) late = request;
            return { belowPromise: 0 };
          },
        };
      }),
    },
    rule: 'CAUSAL-11: the cursor moves together with the versions',
    caughtBy: TORN,
    overrides: { siteCount: 2 },
    shownBy: 9,
  },
  'causal-cursor-unchecked': {
    parts: {
      Partition: replaceMethods(Partition, () => ({ isCursorAt: () => true })),
    },
    rule: 'CAUSAL-11: no reply is applied twice, nor over a newer one',
    caughtBy: [...TORN, 'liveness'],
    overrides: { siteCount: 2, repeatChance: 0.3, remoteDelayMs: 40, restartEveryMs: 100 },
  },
  'causal-stable-without-one-partition': {
    parts: {
      Partition: BehindNotChecked,
      Stabilizer: replaceMethods(Stabilizer, (original) => ({
        computeStable: (received) => {
          if (received.length === 1) return original.computeStable(received);
          const none = original.computeStable([undefined]);
          return received
            .slice(1)
            .map((vector) => vector ?? none)
            .reduce(minVector);
        },
      })),
    },
    rule: 'CAUSAL-12: a write is stable when all partitions have received it',
    caughtBy: ['torn', 'session', 'waits'],
    overrides: SEVERAL_SITES,
  },
  'causal-loss-unnoticed': {
    parts: {
      Partition: replaceMethods(BehindNotChecked, () => ({ hasLostWrites: () => false })),
    },
    rule: 'CAUSAL-13: a partition that has lost state answers no client',
    caughtBy: [...TORN, 'latest', 'liveness', 'twice'],
    overrides: SET_BACK,
    shownBy: 4,
  },
  'causal-loss-of-others-unreported': {
    parts: { CausalSite: TakesHealsSilently },
    rule: 'CAUSAL-13: lost writes are reported, also if one gateway alone had seen them',
    caughtBy: ['unreported'],
    overrides: {
      ...SET_BACK,
      gatewaysPerSite: 2,
      flushEveryMs: 250,
      maxOwnEntries: 100_000,
      localDelayMs: 4,
    },
    shownBy: 11,
  },
  'causal-start-unchecked': {
    parts: { CausalSite: replaceMethods(CausalSite, () => ({ start: () => {} })) },
    rule: 'CAUSAL-13: a gateway that starts knows which own writes its site had',
    caughtBy: [...TORN, 'latest', 'waits'],
    overrides: {
      ...SET_BACK,
      ...ONE_GATEWAY,
      restartEveryMs: 150,
      losesViewsChance: 0,
      keepTombstonesMs: 1_000_000,
    },
    shownBy: 97,
  },
  'causal-resync-moves-received': {
    parts: {
      Partition: replaceMethods(Partition, (original) => ({
        merge: (request) => {
          const reply = original.merge(request);
          const { state } = original;
          for (const { site, stamp } of request.chains.flatMap(([, chain]) => getVersions(chain)))
            if (site !== original.site) state.received = raiseStamp(state.received, site, stamp);
          return reply;
        },
      })),
    },
    rule: 'CAUSAL-14: a resync moves no promise',
    caughtBy: TORN,
    overrides: {
      siteCount: 2,
      maxOwnEntries: 3,
      maxScannedKeys: 1,
      keyCount: 8,
      cutEveryMs: 200,
      thinkMeanMs: 5,
    },
  },
  'causal-write-id-ignored': {
    parts: {
      Partition: replaceMethods(Partition, () => ({ findRepeatedWrite: () => undefined })),
    },
    rule: 'CAUSAL-17: a repeated write is the same write',
    caughtBy: ['twice'],
    overrides: { repeatChance: 0.2, setBackEveryMs: Infinity },
  },
  'causal-tombstone-dropped-at-once': {
    parts: {
      Partition: replaceMethods(Partition, () => ({
        getTombstoneLifetime: () => 0,
        isReceivedFromAll: () => true,
      })),
    },
    rule: 'CAUSAL-18: a delete is remembered',
    caughtBy: TORN,
    overrides: {
      siteCount: 2,
      removeChance: 0.4,
      setBackEveryMs: Infinity,
      keepTombstonesMs: 1_000_000,
    },
  },
  'causal-forgotten-deletes-not-hidden': {
    parts: { CausalSite: mishear(0) },
    rule: 'CAUSAL-18: a delete that the source of a copy has forgotten does not come back',
    caughtBy: ['torn', 'session', 'visibility', 'convergence'],
    overrides: LONG_CUTS,
    shownBy: 11,
  },
  'causal-unreceived-taken-for-forgotten': {
    parts: { CausalSite: mishear(Infinity) },
    rule: 'CAUSAL-18: what the source of a copy has never received is no forgotten delete',
    caughtBy: ['torn', 'session', 'visibility', 'convergence'],
    overrides: LONG_CUTS,
  },
  'causal-session-does-not-wait': {
    parts: {
      Partition: BehindNotChecked,
      CausalSite: replaceMethods(CausalSite, () => ({ mayStart: () => true })),
    },
    rule: 'CAUSAL-20: a session from another site waits for its writes',
    caughtBy: ['torn', 'session'],
    overrides: SEVERAL_SITES,
  },
  'causal-latest-by-near-clock': {
    // Takes the clocks of other sites for 0, so that `latest` is the clock of the near site.
    parts: {
      CausalSite: withPort((port, site) => (address, name, request, onReply) => {
        if (name === 'snapshot' && address.site !== site) onReply({ clock: 0 } as never);
        else port.call(address, name, request, onReply);
      }),
    },
    rule: 'CAUSAL-22: latest has what any site acknowledged before',
    caughtBy: ['latest'],
    overrides: { siteCount: 2, latestChance: 0.3, clockOffsetMs: 0 },
  },
};
