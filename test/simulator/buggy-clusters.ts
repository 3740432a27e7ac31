/**
 * Sites that each break one rule of how members change, and of how they begin with the state of
 * others.
 */
import {
  createSiteFromShared,
  getSavedSite,
  mergeSharedIntoSite,
} from '../../src/server/log/recovered-state.ts';
import type { RecoveredState, SharedSiteState } from '../../src/server/log/recovered-state.ts';
import { AbsentSites } from '../../src/server/messages/absent-sites.ts';
import type { Envelope } from '../../src/server/messages/envelope.ts';
import { MessageFilter } from '../../src/server/messages/message-filter.ts';
import type { MessageFilterOptions } from '../../src/server/messages/message-filter.ts';
import type { Origins } from '../../src/server/records/origin.ts';
import { getProposer } from '../../src/server/records/global-records.ts';
import type { MemberRecord, RedRecord } from '../../src/server/records/records.ts';
import type { Submission } from '../../src/server/replica/core/submissions.ts';
import { CoverageWaiters } from '../../src/server/replica/core/coverage-waiters.ts';
import { Membership, type MembershipPort } from '../../src/server/replica/membership.ts';
import { RedOrder } from '../../src/server/replica/red/order/red-order.ts';
import { RedPath } from '../../src/server/replica/red/red-path.ts';
import type { ReplicaOutput } from '../../src/server/records/replica-output.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';

const withReplica =
  (Broken: new (...args: ConstructorParameters<typeof Replica>) => Replica): MachineFactory =>
  (...args) => {
    class Machine extends SiteMachine {
      protected override createReplica(...given: ConstructorParameters<typeof Replica>): Replica {
        return new Broken(...given);
      }
    }
    return new Machine(...args);
  };

const withMembership = (
  Broken: typeof Membership,
  port: Partial<MembershipPort> = {},
): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createMembership(): Membership {
        return new Broken(this, this.blue, { ...this.membershipPort, ...port }, this.name);
      }
    },
  );

/** Ends a stream where the leader of the red log has it, whatever others hold. */
class LeaderMembership extends Membership {
  override deliver(record: MemberRecord, place: number, isProven: boolean): void {
    const isOther = record.action === 'ack' && record.site !== 1;
    super.deliver(isOther ? { ...record, held: [] } : record, place, isProven);
  }
}

/** Names the leader of `main` alone in each change. */
class MainLeaders extends Replica {
  override emit(output: ReplicaOutput): void {
    if (output.kind !== 'propose' || output.record.kind !== 'member') return super.emit(output);
    const { leaders: _, ...record } = { leaders: undefined, ...output.record };
    super.emit({ ...output, record });
  }
}

/** Takes what an origin sends itself that is being closed. */
class OpenDoor extends MessageFilter {
  constructor(options: MessageFilterOptions) {
    const { origins } = options;
    const isSite = (ordinal: number): boolean => origins.isSite(ordinal);
    const get = (_: unknown, name: string): unknown => {
      const value = name === 'isMember' ? isSite : (Reflect.get(origins, name) as unknown);
      return typeof value === 'function' ? (value as () => unknown).bind(origins) : value;
    };
    super({ ...options, origins: new Proxy<Origins>(origins, { get }) });
  }
}

/** Takes the site that has a name now for the one that an operation was sent to first. */
class ForgetfulHomes extends SiteMachine {
  override submit(submission: Submission, nowMs: number, wallMs?: number): void {
    const { origins } = this.replica.options;
    const { identity } = submission;
    const home =
      identity && origins.isSite(identity.home)
        ? origins.find(origins.getName(identity.home))
        : undefined;
    const moved =
      identity && home !== undefined
        ? { ...submission, identity: { ...identity, home } }
        : submission;
    super.submit(moved, nowMs, wallMs);
  }
}

/** Leaves sites behind, however few remain. */
class LeavingMinority extends SiteMachine {
  protected override createAbsentSites(
    ...args: ConstructorParameters<typeof AbsentSites>
  ): AbsentSites {
    return new (class extends AbsentSites {
      protected override mayLeave(): boolean {
        return true;
      }
    })(...args);
  }
}

/** Compares no end of a log beside `main` with that of another site. */
class MainEnds extends SiteMachine {
  override receive(
    { message, ...envelope }: Envelope,
    ...others: [nowMs: number, wallMs: number, hasRoom: boolean]
  ): void {
    const isOfNode = message.kind === 'node.hello' || message.kind === 'node.known';
    super.receive(
      { ...envelope, message: isOfNode ? { ...message, logs: undefined } : message },
      ...others,
    );
  }
}

/** The voters of the logs beside `main` are the sites of the start, also once they are closed. */
class FirstVoters extends SiteMachine {
  protected override createAbsentSites(
    ...args: ConstructorParameters<typeof AbsentSites>
  ): AbsentSites {
    const [ofMain] = args;
    return new (class extends AbsentSites {
      override getLogMembers(origins = ofMain): ReturnType<AbsentSites['getLogMembers']> {
        const members = super.getLogMembers(origins);
        if (origins === ofMain) return members;
        return {
          ...members,
          voters: origins.sites.filter((site) => origins.get(site).incarnation === 0),
        };
      }
    })(...args);
  }
}

/** Takes the members of `main` for those of each red log. */
class MainMembers extends RedOrder {
  readonly #origins: Origins;

  constructor({ options, state }: Replica, partition: number) {
    super(options, state, partition);
    this.#origins = options.origins;
  }

  protected override isVoid(record: RedRecord): boolean {
    return !this.#origins.isMember(getProposer(record)) || super.isVoid(record);
  }
}

/** What can be broken in a machine, by name. */
export const BUGGY_CLUSTERS = {
  leaderEnds: withMembership(LeaderMembership),
  noCopies: withMembership(Membership, { getMembersPlace: () => Infinity }),
  openDoor: (...args: Parameters<MachineFactory>) =>
    new (class extends SiteMachine {
      protected override createMessageFilter(options: MessageFilterOptions): MessageFilter {
        return new OpenDoor(options);
      }
    })(...args),
  endlessSessions: withReplica(
    class extends Replica {
      protected override createCoverage(): CoverageWaiters {
        return new CoverageWaiters(() => this.state.stable, { finals: undefined });
      }
    },
  ),
  mainMembers: withReplica(
    class extends Replica {
      protected override createRedPath(): RedPath {
        return new RedPath(this, { createOrder: (partition) => new MainMembers(this, partition) });
      }
    },
  ),
  mainLeaders: withReplica(MainLeaders),
  firstVoters: (...args: Parameters<MachineFactory>) => new FirstVoters(...args),
  mainEnds: (...args: Parameters<MachineFactory>) => new MainEnds(...args),
  unknownStarts: (options, ...found) =>
    new SiteMachine({ ...options, stopsOnUnknownStart: false }, ...found),
  hastyStarts: (options, ...found) => new SiteMachine({ ...options, needsPeer: false }, ...found),
  homes: (...args: Parameters<MachineFactory>) => new ForgetfulHomes(...args),
  minorities: (...args: Parameters<MachineFactory>) => new LeavingMinority(...args),
} satisfies Readonly<Record<string, MachineFactory>>;

/** A new site begins one operation of each stream too far. */
export const createFarSite: typeof createSiteFromShared = ({ sections, smallParts }) => {
  const shared = smallParts as SharedSiteState;
  const applied = shared.replica.applied.map((count, origin) => (origin === 1 ? count + 1 : count));
  return createSiteFromShared({
    sections,
    smallParts: { ...shared, replica: { ...shared.replica, applied } },
  });
};

/** A site that was away keeps nothing of its own stream that the other one lacks. */
export const mergeWithoutTail: typeof mergeSharedIntoSite = (site, own, shared): RecoveredState => {
  const merged = mergeSharedIntoSite(site, own, shared);
  if (merged.checkpoint === undefined) return merged;
  const saved = getSavedSite(merged.checkpoint);
  const waiting = saved.own.waiting.map((operations, origin) =>
    origin === site ? [] : operations,
  );
  const { entries, start } = own.local;
  const syncedLength = start + entries.length;
  return {
    ...merged,
    checkpoint: {
      ...merged.checkpoint,
      smallParts: { ...saved, own: { ...saved.own, waiting, syncedLength } },
    },
  };
};

/** A site that was away keeps its rows where the other one has newer ones. */
export const mergeIntoOldRows: typeof mergeSharedIntoSite = (site, own, shared): RecoveredState => {
  const merged = mergeSharedIntoSite(site, own, shared);
  const { checkpoint } = merged;
  const rows = own.checkpoint?.sections['rows'];
  if (checkpoint === undefined || rows === undefined) return merged;
  return { ...merged, checkpoint: { ...checkpoint, sections: { ...checkpoint.sections, rows } } };
};

/** A new site knows none of the red operations that have ended. */
export const createSiteWithoutEndings: typeof createSiteFromShared = ({ sections, smallParts }) => {
  const { endings: _endings, 'endings.clients': _clients, ...known } = sections;
  return createSiteFromShared({ sections: known, smallParts });
};
