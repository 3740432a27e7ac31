/** How a site is set up, what it wants done, and what it reports of itself. */
import type { AbsenceLimits, AbsentSites } from '../messages/absent-sites.ts';
import type { LogKind } from '../log/local-log.ts';
import type { RedHalt } from '../log/red-log-consumer.ts';
import { getSavedSite, type RecoveredState } from '../log/recovered-state.ts';
import type {
  LogMembers,
  LogOutput,
  RedLog,
  RedLogOptions,
  SavedLog,
} from '../log/red-log.ts';
import type { RedLogEngine } from '../log/red-log-engine.ts';
import type { MessageFilterOptions } from '../messages/message-filter.ts';
import type { Envelope, MessageRejectionCounts } from '../messages/envelope.ts';
import type { KnownOrigin, Origin, Origins } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { ReplicaOptions } from '../replica/core/replica-port.ts';
import type { MemberOutput, ReplicaOutput } from '../records/replica-output.ts';
import type { Replica } from '../replica/replica.ts';
import type { RecoveredReplica } from '../replica/replica-recovery.ts';

export type SiteOutput =
  | { readonly kind: 'send'; readonly envelope: Envelope }
  | {
      readonly kind: 'store';
      readonly log: LogKind;
      readonly entries: readonly unknown[];
    }
  /**
   * The site takes no more of the red log: red operations wait, blue ones go
   * on. Reported once a start.
   */
  | { readonly kind: 'halted'; readonly halt: RedHalt }
  /** Of an engine whose log is kept by a server. */
  | Extract<
      LogOutput<unknown>,
      { kind: 'request' | 'unavailable' | 'available' | 'full' }
    >
  | MemberOutput
  /**
   * Another node of this site has gone on: this one takes and sends no more,
   * for good.
   */
  | { readonly kind: 'forked'; readonly message: string }
  /**
   * A newer version of the program or the service is in force: the site takes
   * and sends no more.
   */
  | { readonly kind: 'outdated'; readonly message: string }
  /**
   * The site takes no more of that start of another site, since another node of
   * it has gone on.
   */
  | {
      readonly kind: 'peer-forked';
      readonly peer: Origin;
      readonly message: string;
    }
  /**
   * No other site has confirmed this start for long: updates are refused until
   * one has.
   */
  | { readonly kind: 'alone' }
  | Extract<ReplicaOutput, { kind: 'view' | 'failed' | 'rights-lost' }>;

export interface SiteOptions extends ReplicaOptions {
  /**
   * Which deployment the site is of: the same at all its sites and at no
   * other's.
   */
  readonly deployment: string;
  /** The site that sequences the red log. */
  readonly redLeader: Origin;
  /**
   * What the red log is called where its leader may change. Default: the name
   * of its leader
   */
  readonly redLogName?: string | undefined;
  /**
   * How many entries of the red log are known to be committed at the start,
   * beside those by the site's own log. It has answered by these, and shows
   * them before other sites reply. Default: 0.
   */
  readonly committedRedEntries?: number | undefined;
  /**
   * How much is kept for a site that is away. Unless given there is no bound,
   * and updates are refused in the end.
   */
  readonly absence?: AbsenceLimits | undefined;
  /** The engine of the red log; the one that is built in unless given. */
  readonly redLog?: RedLogEngine | undefined;
  readonly onMessageRejected?: MessageFilterOptions['onRejected'];
  /**
   * What a site may come to keep while its red log has halted, in bytes;
   * `MAX_HALTED_BYTES` unless given.
   */
  readonly maxHaltedBytes?: number | undefined;
  /**
   * Names the data directory of this node. One that is known by another name at
   * other sites is not heard there.
   */
  readonly directory?: string | undefined;
  /**
   * The generation of the red log: sites with different ones ignore each other.
   * Default: 0.
   */
  readonly generation?: number | undefined;
  /**
   * Whether a start of a site ends if it does not know of another one, rather
   * than goes on above it. It ends once it learns of a later one. A start of
   * another site ends if it began before the last one accepted here.
   */
  readonly stopsOnUnknownStart?: boolean | undefined;
  /**
   * Whether no update is answered before another site has accepted this start.
   * Updates wait for that for `ALONE_AFTER_MS`, and are refused after that.
   */
  readonly needsPeer?: boolean | undefined;
}

/**
 * Messages that were not taken, by reason; `clock` where only a stamp was
 * refused, since its sender's clock is wild, and `room` where there was none
 * for what they lead to.
 */
export type RejectedMessageCounts = MessageRejectionCounts & {
  readonly clock: number;
  readonly room: number;
};

export interface MemberStatus extends KnownOrigin {
  readonly origin: Origin;
  /** By the clock that only runs forward; `undefined` if not at this start. */
  readonly heardAtMs?: number | undefined;
}

export interface SiteProgress {
  /** The number of this start: above that of any earlier one. */
  readonly start: number;
  /** Records of the red log that were delivered. */
  readonly red: number;
  /**
   * The stable time: by ordinal, up to where the site has everything of each
   * origin.
   */
  readonly stable: readonly number[];
  /** Blue operations that the site has, by ordinal of their origin. */
  readonly streams: readonly number[];
  /** Entries that are kept because another site lacks them. */
  readonly backlog: number;
  /** The members that have not confirmed the pending change of the members. */
  readonly unconfirmed: readonly Origin[];
  /** Why the red log has halted, if it has. */
  readonly halt: string | undefined;
}

/** Describes the members, and when this site has last heard each of them. */
export function describeMembers(
  origins: Origins,
  absent: AbsentSites,
): MemberStatus[] {
  return origins.sites.map((origin) => ({
    ...origins.get(origin),
    origin,
    heardAtMs: absent.getHeardAtMs(origin),
  }));
}

/** Describes how far a replica is. */
export function describeStreams(
  replica: Replica,
): Pick<SiteProgress, 'red' | 'stable' | 'streams' | 'unconfirmed'> {
  return {
    red: replica.redDelivered,
    stable: [...replica.state.stable],
    streams: replica.blue.save().map(({ synced }) => synced),
    unconfirmed: replica.membership.unconfirmed,
  };
}

/**
 * How long updates wait at a start for another site, before they are refused.
 */
export const ALONE_AFTER_MS = 10_000;

/**
 * Returns what a directory has of the replica: its own log, and its part of the
 * checkpoint.
 */
export function toRecoveredReplica({
  local,
  checkpoint,
}: RecoveredState): RecoveredReplica {
  if (checkpoint === undefined) return { ...local, checkpoint };
  const { shared, own } = getSavedSite(checkpoint);
  return {
    ...local,
    checkpoint: { sections: checkpoint.sections, shared: shared.replica, own },
  };
}

/** What a site knows of its red log at a start. */
export interface KnownRedLog {
  /** The copy of the log that the directory has. */
  readonly stored: RecoveredState['red'];
  readonly saved: SavedLog | undefined;
  /** Records that are known to be committed by the site's own log. */
  readonly provenCount: number;
  readonly members: LogMembers;
}

/** Creates this site's node of the red log, with the copy that it has. */
export function createRedLog(
  engine: RedLogEngine,
  options: SiteOptions,
  { stored, saved, provenCount, members }: KnownRedLog,
): RedLog<RedRecord> {
  const committed = Math.max(provenCount, options.committedRedEntries ?? 0);
  return engine.createNode({
    ...createLogOptions(options),
    ...stored,
    saved,
    committed,
    ...members,
  });
}

function createLogOptions(
  options: SiteOptions,
): Omit<RedLogOptions<RedRecord>, 'sites'> {
  const {
    site,
    origins,
    redLeader,
    redLogName,
    epoch,
    resendAfterMs,
    windows,
  } = options;
  return {
    site,
    getMemberChange: (record) => {
      if (record.kind !== 'member') return undefined;
      return {
        closes:
          record.action === 'change' ? origins.find(record.name) : undefined,
      };
    },
    leader: redLeader,
    identity: `red@${redLogName ?? origins.getName(redLeader)}`,
    epoch,
    resendAfterMs,
    windows,
  };
}

/**
 * The options of the replica: what the engine of the red log bounds, and no
 * leader where servers order the records.
 */
export function toReplicaOptions(
  options: SiteOptions,
  { hasServers, maxRecordBytes }: RedLogEngine,
): SiteOptions {
  const { redLeader, ...others } = options;
  return {
    ...others,
    ...(hasServers !== true && { redLeader }),
    maxRedBytes: maxRecordBytes,
  } as SiteOptions;
}
