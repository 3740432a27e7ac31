/**
 * Planted faults of the causal store: each leaves out one rule. A simulator that does not catch
 * them proves nothing. They live here only; nothing in production can be switched to them.
 */
import { CausalSite, type CausalSiteOptions } from '../../../src/causal/causal-site.ts';
import type {
  ApplyReply,
  ApplyRequest,
  MergeRequest,
  OwnEntry,
  PartitionPort,
  PutRequest,
  Refusal,
  SiteView,
} from '../../../src/causal/partition-calls.ts';
import { Partition } from '../../../src/causal/partition.ts';
import type { CausalSession } from '../../../src/causal/session.ts';
import { Stabilizer } from '../../../src/causal/stabilizer.ts';
import {
  maxVector,
  minVector,
  raiseStamp,
  type Stamp,
  type Vector,
} from '../../../src/causal/stamps.ts';
import type { Version } from '../../../src/causal/version.ts';
import {
  findVisibleVersion,
  getVersions,
  type VersionChain,
} from '../../../src/causal/version-chain.ts';
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

class NoDependenciesInStamp extends Partition {
  protected override getHighestDependency(): Stamp {
    return 0;
  }
}

class BlindOverwrite extends Partition {
  protected override chooseStamp(request: PutRequest, _chain: VersionChain, now: Stamp): Stamp {
    return Math.max(now, this.state.clock + 1, this.getHighestDependency(request.dependencies) + 1);
  }
}

class ClockNotRaised extends Partition {
  protected override raiseClockTo(): void {}
}

class GapIgnored extends Partition {
  protected override findVersion(chain: VersionChain, snapshot: Vector): Version | undefined {
    const found = findVisibleVersion(chain, snapshot);
    return found === 'TOO_OLD' ? undefined : found;
  }
}

class PromiseAboveUnsent extends Partition {
  protected override choosePromise(_entries: readonly OwnEntry[]): Stamp {
    return this.state.clock;
  }
}

class PromiseUnconfirmed extends Partition {
  protected override getConfirmedStamp(): Stamp {
    return Infinity;
  }
}

class PromiseBroken extends Partition {
  protected override choosePromise(
    entries: readonly OwnEntry[],
    lastSent: number | undefined,
  ): Stamp {
    return super.choosePromise(entries, lastSent) + 5_000;
  }

  protected override getConfirmedStamp(): Stamp {
    return Infinity;
  }
}

/** A crash between two steps: the versions come with the next call only. */
class CursorBeforeVersions extends Partition {
  #late: ApplyRequest | undefined;

  protected override apply(request: ApplyRequest, now: Stamp): ApplyReply | Refusal {
    const reply = super.apply({ ...request, entries: this.#late?.entries ?? [] }, now);
    if (!('refused' in reply)) this.#late = request;
    return { belowPromise: 0 };
  }
}

class NoteNoLoss extends Partition {
  protected override hasLostWrites(): boolean {
    return false;
  }

  protected override isBehind(): boolean {
    return false;
  }
}

/** Without this second check, a snapshot that is too new is torn instead of refused. */
class BehindNotChecked extends Partition {
  protected override isBehind(): boolean {
    return false;
  }
}

class ResyncMovesReceived extends Partition {
  protected override merge(request: MergeRequest): object {
    const reply = super.merge(request);
    for (const { site, stamp } of request.chains.flatMap(([, chain]) => getVersions(chain)))
      if (site !== this.site) this.state.received = raiseStamp(this.state.received, site, stamp);
    return reply;
  }
}

class TombstonesDropped extends Partition {
  protected override getTombstoneLifetime(): Stamp {
    return 0;
  }

  protected override isReceivedFromAll(): boolean {
    return true;
  }
}

class IdsIgnored extends Partition {
  protected override findRepeatedWrite(): Stamp | undefined {
    return undefined;
  }
}

class CursorNotChecked extends Partition {
  protected override isCursorAt(): boolean {
    return true;
  }
}

class StableFromAnyPartition extends Stabilizer {
  protected override computeStable(received: readonly (Vector | undefined)[]): Vector {
    const known = received.filter((vector) => vector !== undefined);
    return known.reduce(maxVector, super.computeStable(received));
  }
}

class StableWithoutOnePartition extends Stabilizer {
  protected override computeStable(received: readonly (Vector | undefined)[]): Vector {
    if (received.length === 1) return super.computeStable(received);
    const none = super.computeStable([undefined]);
    return received
      .slice(1)
      .map((vector) => vector ?? none)
      .reduce(minVector);
  }
}

class SiteWithStableFromAny extends CausalSite {
  protected override createStabilizer(): Stabilizer {
    return new StableFromAnyPartition(this.options);
  }
}

class SiteWithoutOnePartition extends CausalSite {
  protected override createStabilizer(): Stabilizer {
    return new StableWithoutOnePartition(this.options);
  }
}

class SessionDoesNotWait extends CausalSite {
  protected override mayStart(_session: CausalSession): boolean {
    return true;
  }
}

class StartsWithoutChecks extends CausalSite {
  override start(): void {}
}

/** Takes the clocks of other sites for 0, so that `latest` is the clock of the near site. */
function createSiteWithNearClock(options: CausalSiteOptions): CausalSite {
  const { port, site } = options;
  const nearPort: PartitionPort = {
    getSiteView: (other, onReply) => port.getSiteView(other, onReply),
    call: (address, name, request, onReply) => {
      if (name === 'snapshot' && address.site !== site) onReply({ clock: 0 } as never);
      else port.call(address, name, request, onReply);
    },
  };
  return new CausalSite({ ...options, port: nearPort });
}

/** Replaces what the other one of two sites reports of what it has received. */
function createSiteThatMishears(received: Stamp): (options: CausalSiteOptions) => CausalSite {
  return (options) => {
    const { port, site } = options;
    const changedPort: PartitionPort = {
      getSiteView: (other, onReply) => port.getSiteView(other, onReply),
      call: (address, name, request, onReply) =>
        port.call(address, name, request, (reply) => {
          const isOfOther = address.site !== site && 'received' in reply;
          onReply(isOfOther ? ({ ...reply, received: [received, received] } as never) : reply);
        }),
    };
    return new CausalSite({ ...options, port: changedPort });
  };
}

/**
 * Knows what it has seen itself, and leaves the alarm to the gateway that has healed the partition.
 */
function createSiteWithoutLossOfOthers(options: CausalSiteOptions): CausalSite {
  let isTaking = false;
  class TakesHealsSilently extends CausalSite {
    override observeView(view: SiteView): void {
      isTaking = true;
      const isNewer = (at: Stamp, index: number): boolean =>
        at > this.stabilizer.getHealedAt(index);
      const lastSeen = view.lastSeen.map((seen, index) =>
        isNewer(view.healedAt[index] ?? 0, index) ? seen : 0,
      );
      super.observeView({ ...view, lastSeen });
      isTaking = false;
    }
  }
  const onAlarm: CausalSiteOptions['onAlarm'] = (alarm) => {
    if (!isTaking) options.onAlarm(alarm);
  };
  return new TakesHealsSilently({ ...options, onAlarm });
}

const partition = (Faulty: typeof Partition): CausalFault => ({
  createPartition: (options) => new Faulty(options),
});
const site = (Faulty: typeof CausalSite): CausalFault => ({
  ...partition(BehindNotChecked),
  createSite: (options) => new Faulty(options),
});

const TORN = ['torn', 'session', 'order', 'alarms', 'visibility', 'convergence'];

/** All planted faults by name. */
export const PLANTED_CAUSAL_FAULTS: Readonly<Record<string, PlantedCausalFault>> = {
  'causal-stamp-without-dependencies': {
    ...partition(NoDependenciesInStamp),
    rule: 'CAUSAL-1: a stamp is above all that the write depends on',
    caughtBy: TORN,
    overrides: APART,
  },
  'causal-stamp-below-overwritten': {
    ...partition(BlindOverwrite),
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
    ...site(SiteWithStableFromAny),
    rule: 'CAUSAL-3: a snapshot has only what is stable',
    caughtBy: ['torn'],
    overrides: SEVERAL_SITES,
    shownBy: 18,
  },
  'causal-read-leaves-clock': {
    ...partition(ClockNotRaised),
    rule: 'CAUSAL-4: no later write is in a snapshot that was read',
    caughtBy: TORN,
    overrides: { ...APART, clockOffsetMs: 80, localDelayMs: 4, siteCount: 1 },
    shownBy: 64,
  },
  'causal-gap-ignored': {
    ...partition(GapIgnored),
    rule: 'CAUSAL-7: what was dropped does not read as absent',
    caughtBy: ['torn', 'session'],
    overrides: SHORT_CHAINS,
  },
  'causal-promise-above-unsent': {
    ...partition(PromiseAboveUnsent),
    rule: 'CAUSAL-10: a promise covers no entry that stays behind',
    caughtBy: TORN,
    overrides: { siteCount: 2, maxPulledEntries: 1 },
  },
  'causal-promise-above-clock': {
    ...partition(PromiseBroken),
    rule: 'CAUSAL-10: no later write is below a promise',
    caughtBy: TORN,
    overrides: { siteCount: 2, maxPulledEntries: 200 },
  },
  'causal-promise-unconfirmed': {
    ...partition(PromiseUnconfirmed),
    rule: 'CAUSAL-10: a partition that has lost writes promises nothing about them',
    caughtBy: TORN,
    overrides: { ...SET_BACK, siteCount: 3, partitionCount: 1, cutEveryMs: 300, remoteDelayMs: 40 },
    shownBy: 40,
  },
  'causal-cursor-before-versions': {
    ...partition(CursorBeforeVersions),
    rule: 'CAUSAL-11: the cursor moves together with the versions',
    caughtBy: TORN,
    overrides: { siteCount: 2 },
    shownBy: 9,
  },
  'causal-cursor-unchecked': {
    ...partition(CursorNotChecked),
    rule: 'CAUSAL-11: no reply is applied twice, nor over a newer one',
    caughtBy: [...TORN, 'liveness'],
    overrides: { siteCount: 2, repeatChance: 0.3, remoteDelayMs: 40, restartEveryMs: 100 },
  },
  'causal-stable-without-one-partition': {
    ...site(SiteWithoutOnePartition),
    rule: 'CAUSAL-12: a write is stable when all partitions have received it',
    caughtBy: ['torn', 'session', 'waits'],
    overrides: SEVERAL_SITES,
  },
  'causal-loss-unnoticed': {
    ...partition(NoteNoLoss),
    rule: 'CAUSAL-13: a partition that has lost state answers no client',
    caughtBy: [...TORN, 'latest', 'liveness', 'twice'],
    overrides: SET_BACK,
    shownBy: 4,
  },
  'causal-loss-of-others-unreported': {
    createSite: createSiteWithoutLossOfOthers,
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
    createSite: (options) => new StartsWithoutChecks(options),
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
    ...partition(ResyncMovesReceived),
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
    ...partition(IdsIgnored),
    rule: 'CAUSAL-17: a repeated write is the same write',
    caughtBy: ['twice'],
    overrides: { repeatChance: 0.2, setBackEveryMs: Infinity },
  },
  'causal-tombstone-dropped-at-once': {
    ...partition(TombstonesDropped),
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
    createSite: createSiteThatMishears(0),
    rule: 'CAUSAL-18: a delete that the source of a copy has forgotten does not come back',
    caughtBy: ['torn', 'session', 'visibility', 'convergence'],
    overrides: LONG_CUTS,
    shownBy: 11,
  },
  'causal-unreceived-taken-for-forgotten': {
    createSite: createSiteThatMishears(Infinity),
    rule: 'CAUSAL-18: what the source of a copy has never received is no forgotten delete',
    caughtBy: ['torn', 'session', 'visibility', 'convergence'],
    overrides: LONG_CUTS,
  },
  'causal-session-does-not-wait': {
    ...site(SessionDoesNotWait),
    rule: 'CAUSAL-20: a session from another site waits for its writes',
    caughtBy: ['torn', 'session'],
    overrides: SEVERAL_SITES,
  },
  'causal-latest-by-near-clock': {
    createSite: createSiteWithNearClock,
    rule: 'CAUSAL-22: latest has what any site acknowledged before',
    caughtBy: ['latest'],
    overrides: { siteCount: 2, latestChance: 0.3, clockOffsetMs: 0 },
  },
};
