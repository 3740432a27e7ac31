/** The options of a site, and what it reports about itself. */
import type { AbsenceLimits, AbsentSites } from './parts/absent-sites.ts';
import { getSavedSite, type RecoveredState } from '../log/recovered-state.ts';
import type { LogMembers, MemberChange, RedLog, RedLogOptions, SavedLog } from '../log/red-log.ts';
import type { RedLogEngine } from '../log/red-log-engine.ts';
import type { MessageFilterOptions } from './wire/message-filter.ts';
import type { MessageRejectionCounts } from './wire/envelope.ts';
import { Origins, type KnownOrigin, type Origin } from '../service/records/origin.ts';
import type { MemberRecord, OpeningRecord, RedRecord } from '../service/records/records.ts';
import type { PartOptions } from './core/site-core.ts';
import type { WholeSite } from './whole-site.ts';
import type { PARTS } from './parts.ts';
import type { RecoveredParts } from './recovery.ts';

/** Where the red log of a partition is ordered. */
export interface RedLogPlace {
  /** The site that sequences the log. */
  readonly leader: Origin;
  /**
   * The names of the sites that count for a majority. A site that is rebuilt takes the place of its
   * earlier incarnation. Default: all
   */
  readonly voters?: readonly string[] | undefined;
  /** The same as `committedRedEntries`, of this log. Default: 0 */
  readonly committedEntries?: number | undefined;
  readonly opening?: LogOpening | undefined;
}

/**
 * How a log begins that was restored without all that was confirmed. Its leader appends that as an
 * `opening` record.
 */
export interface LogOpening extends Pick<OpeningRecord, 'stamp' | 'holds'> {
  /** The number of entries before that record. */
  readonly length: number;
}

export interface SiteOptions extends PartOptions {
  /**
   * Identifies the deployment. It is the same at all its sites, and differs from that of any other
   * deployment.
   */
  readonly deployment: string;
  /** The site that sequences the red log of `main`. */
  readonly redLeader: Origin;
  /** How the red log of `main` begins, if it lacks confirmed records. */
  readonly redOpening?: LogOpening | undefined;
  /** The red logs of the other partitions, in the order of their ordinals. Default: none */
  readonly redLogs?: readonly RedLogPlace[] | undefined;
  /** The name of the red log if its leader may change. Default: the name of its leader */
  readonly redLogName?: string | undefined;
  /**
   * The number of red log entries that are known to be committed at the start, in addition to those
   * that the site's own log proves. An earlier start has answered by these. They are shown before
   * other sites reply. Default: 0.
   */
  readonly committedRedEntries?: number | undefined;
  /**
   * The limits of what is kept for a site that is away. Default: everything is kept, and updates
   * are refused in the end
   */
  readonly absence?: AbsenceLimits | undefined;
  /** The engine of the red log. Default: the built-in one */
  readonly redLog?: RedLogEngine | undefined;
  readonly onMessageRejected?: MessageFilterOptions['onRejected'];
  /**
   * The maximum of bytes that a site keeps while its red log has halted. Default:
   * `MAX_HALTED_BYTES`
   */
  readonly maxHaltedBytes?: number | undefined;
  /**
   * Names the data directory of this node. Other sites ignore a node whose directory they know by
   * another name.
   */
  readonly directory?: string | undefined;
  /**
   * The generation of the red log. Sites with different generations ignore each other. Default: 0.
   */
  readonly generation?: number | undefined;
  /**
   * Whether a start stops if other sites know a later start of its site. Otherwise it goes on above
   * that one. A start of another site has to stop if it began before the last one that was accepted
   * here.
   */
  readonly stopsOnUnknownStart?: boolean | undefined;
  /**
   * Whether updates are answered only after another site has accepted this start. They wait for
   * that for `ALONE_AFTER_MS`, and are refused after that.
   */
  readonly needsPeer?: boolean | undefined;
  /** The classes of parts that take the place of those of `PARTS`. Tests plant faults by them. */
  readonly parts?: Partial<typeof PARTS> | undefined;
}

/**
 * The numbers of messages that were not taken, by reason. `clock` counts refused stamps of sites
 * whose clock is wrong. `room` counts messages for which there was no room.
 */
export type RejectedMessageCounts = MessageRejectionCounts & {
  readonly clock: number;
  readonly room: number;
};

export interface MemberStatus extends KnownOrigin {
  readonly origin: Origin;
  /**
   * When it last sent a message, by the clock that only runs forward. It is `undefined` if it has
   * sent none at this start.
   */
  readonly heardAtMs?: number | undefined;
}

export interface SiteProgress {
  /** The number of this start, which is greater than that of any earlier one. */
  readonly start: number;
  /** The number of records of the red log of `main` that were delivered. */
  readonly red: number;
  /** The same for each partition by its ordinal, if there are several. */
  readonly reds?: readonly number[] | undefined;
  /** By ordinal: the stamp of each origin up to which the site has applied everything. */
  readonly stable: readonly number[];
  /** By ordinal of the origin: the number of blue operations that the site has. */
  readonly streams: readonly number[];
  /** The number of entries that are kept because another site lacks them. */
  readonly backlog: number;
  /** The members that have not confirmed the pending change of the members. */
  readonly unconfirmed: readonly Origin[];
  /** Why the red log has halted, if it has. */
  readonly halt: string | undefined;
}

/** Describes the members, and when each of them last sent a message to this site. */
export function describeMembers(origins: Origins, absent: AbsentSites): MemberStatus[] {
  return origins.sites.map((origin) => ({
    ...origins.get(origin),
    origin,
    heardAtMs: absent.getHeardAtMs(origin),
  }));
}

/** The part of `SiteProgress` that is not about the start. */
interface StreamProgress {
  readonly red: number;
  readonly reds?: readonly number[] | undefined;
  readonly stable: readonly number[];
  readonly streams: readonly number[];
  readonly unconfirmed: readonly Origin[];
}

/** Describes how far a site is. */
export function describeStreams(site: WholeSite): StreamProgress {
  const reds = site.red.lanes.all.map(({ order }) => order.deliveredCount);
  return {
    red: reds[0] ?? 0,
    ...(reds.length > 1 && { reds }),
    stable: [...site.state.stable],
    streams: site.blue.save().map(({ synced }) => synced),
    unconfirmed: site.membership.unconfirmed,
  };
}

/** How long updates of a start wait for another site before they are refused. */
export const ALONE_AFTER_MS = 10_000;

/** Returns what the parts find in a directory: the own log, and their part of the checkpoint. */
export function toRecoveredParts({ local, checkpoint, rows }: RecoveredState): RecoveredParts {
  if (checkpoint === undefined) return { ...local, rows };
  const { shared, own } = getSavedSite(checkpoint);
  return {
    ...local,
    rows,
    checkpoint: { sections: checkpoint.sections, shared: shared.replica, own },
  };
}

/** What a site knows of one of its red logs at a start. */
export interface KnownRedLog {
  /** The copy of the log that the directory has. */
  readonly stored: RecoveredState['red'];
  readonly saved: SavedLog | undefined;
  /** Records that are known to be committed by the site's own log. */
  readonly provenCount: number;
  /** The members as the log has them. */
  readonly origins: Origins;
  readonly members: LogMembers;
}

/** Returns where the red log of a partition is ordered. */
export function getRedLogPlace(
  { redLeader, committedRedEntries, redOpening, redLogs }: SiteOptions,
  partition: number,
): RedLogPlace {
  if (partition === 0)
    return {
      leader: redLeader,
      committedEntries: committedRedEntries,
      opening: redOpening,
    };
  const place = redLogs?.[partition - 1];
  if (place === undefined) throw new Error(`no leader is named for partition ${partition}`);
  return place;
}

/**
 * Returns the sites that get the red log of a partition, and its voters among the members.
 *
 * @param origins the members as the log has them
 */
export function getLogMembers(
  options: SiteOptions,
  partition: number,
  origins: Origins,
  { sites, voters: open }: LogMembers,
): LogMembers {
  const { voters } = getRedLogPlace(options, partition);
  if (voters === undefined) return { sites, voters: open };
  const isVoter = (site: Origin): boolean => voters.includes(origins.getName(site));
  return { sites, voters: open.filter(isVoter) };
}

/** Creates this site's node of the red log of a partition, with the copy that it has. */
export function createRedLog(
  engine: RedLogEngine,
  options: SiteOptions,
  partition: number,
  { stored, saved, provenCount, origins, members }: KnownRedLog,
): RedLog<RedRecord> {
  const { committedEntries = 0 } = getRedLogPlace(options, partition);
  return engine.createNode({
    ...createLogOptions(options, partition, origins),
    ...stored,
    saved,
    committed: Math.max(provenCount, committedEntries),
    ...getLogMembers(options, partition, origins, members),
  });
}

/** Returns the name of a red log. That of `main` is older than partitions. */
function formatLogName(options: SiteOptions, partition: number): string {
  const { origins, redLogName, partitions } = options;
  const { leader } = getRedLogPlace(options, partition);
  const name = `red@${redLogName ?? origins.getName(leader)}`;
  return partition === 0 ? name : `${name}/${partitions?.names[partition]}`;
}

/** Returns how a record changes the members. A copy may have several changes that became one. */
function findMemberChange(
  record: MemberRecord,
  options: SiteOptions,
  partition: number,
  origins: Origins,
): MemberChange {
  switch (record.action) {
    case 'change': {
      const closed = origins.find(record.name);
      return { closes: closed === undefined ? [] : [closed] };
    }
    case 'ack':
      return { closes: [] };
    case 'copy': {
      const now = Origins.create([]);
      now.load(record.origins);
      const { members: sites } = now;
      const open = sites.filter((site) => now.get(site).state === 'open');
      const known = { sites, voters: open };
      return {
        closes: origins.members.filter((site) => !now.isMember(site)),
        voters: getLogMembers(options, partition, now, known).voters,
      };
    }
  }
}

function createLogOptions(
  options: SiteOptions,
  partition: number,
  origins: Origins,
): Omit<RedLogOptions<RedRecord>, 'sites'> {
  const { site, epoch, resendAfterMs, windows, sizes, createDigest } = options;
  return {
    site,
    getMemberChange: (record) =>
      record.kind === 'member' ? findMemberChange(record, options, partition, origins) : undefined,
    leader: getRedLogPlace(options, partition).leader,
    identity: formatLogName(options, partition),
    partition,
    epoch,
    resendAfterMs,
    windows,
    sizes,
    createDigest,
  };
}

/**
 * Returns the options of the parts. They contain the limits of the red log's engine, and no
 * leaders if servers order the records.
 */
export function toPartOptions(
  options: SiteOptions,
  { hasServers, maxRecordBytes }: RedLogEngine,
): SiteOptions {
  const { redLeader, redLogs, ...others } = options;
  return {
    ...others,
    ...(hasServers !== true && { redLeader, redLogs }),
    maxRedBytes: maxRecordBytes,
  } as SiteOptions;
}
