/**
 * The port of the red log: a totally ordered, durable log that delivers every record at least once
 * to every site, in one order. Only the delivery decides, so a log needs no fence and no lock. Each
 * delivery has its place, and `RedLogConsumer` takes the next place only. A place is the number of
 * entries before it. An engine may repeat, jump, or come back with less than it had.
 */
import type { Origin } from '../service/records/origin.ts';
import type { EntryName, StreamPoint } from '../service/records/records.ts';
import type { SendWindows } from './send-windows.ts';
import type { DigestFactory } from './prefix-digest.ts';
import type { MachineSizes } from './machine-sizes.ts';

/**
 * One site's node of the log: a pure state machine without timers, sockets or disks, which its site
 * drives. Its engine creates it (`red-log-engine.ts`). `M` is the type of messages between nodes of
 * one engine.
 */
export interface RedLog<R, M extends LogMessage = LogMessage> {
  /** About how many bytes the entries take that it has in memory. */
  readonly retainedBytes: number;
  /** Whether something is in flight that a lost message could hold up. Then ticks are needed. */
  readonly isBusy: boolean;
  /**
   * The first entry that is needed beside the saved state: other sites may lack it, or it is not
   * delivered.
   */
  readonly retainedFrom: number;
  /** The number of delivered entries that are kept for sites that lack them. */
  readonly backlogLength: number;
  /** The name of this log. A new log, or one of another deployment, has another name. */
  identity(): string;
  /**
   * Returns the digest of the first `length` entries. It is `undefined` if it is unknown, or not
   * kept any more.
   */
  digest(length: number): number | undefined;
  /**
   * The synced end of this node's copy, if one site sequences the log. The copy of that site is
   * never shorter than others.
   */
  readonly end?: StreamPoint | undefined;
  /** Returns what has to be saved so that the entries delivered so far need not be read again. */
  save(): SavedLog;
  /**
   * The first `length` entries are in a checkpoint of this site, which does not read them any more.
   */
  release(length: number): void;
  /**
   * Adds a record. It is delivered at every site, the own one included, once it can no longer be
   * lost.
   */
  propose(record: R, nowMs: number): void;
  /**
   * Takes a record back that has not left this node. Returns whether that succeeded: then it is
   * never delivered.
   */
  withdraw(record: R): boolean;
  /** Returns the number of entries that are kept because a site lacks them. */
  getBacklog?(site: Origin): number;
  /** Returns the number of entries that a site is known to have. */
  getConfirmed?(site: Origin): number;
  /**
   * Sets the sites according to the delivered records. Has to be called after each record that may
   * change them.
   */
  setMembers?(members: LogMembers): void;
  /** Takes a message of the node at another site, which has the same engine. */
  receive(from: Origin, message: M, nowMs: number): void;
  /**
   * Another site depends on entries that are not here. Has to be called regularly while that is so.
   * Engines in which no site leads need none.
   */
  catchUp?(nowMs: number): void;
  /** The first `length` entries of this node's log are synced. */
  onSynced(length: number): void;
  /**
   * Takes a reply to a request, or a change of the connection to the server. Only engines with
   * servers have it.
   */
  onReply?(reply: ServerReply, nowMs: number): void;
  /** When a tick is due even if nothing is in flight. */
  readonly wakeAtMs?: number | undefined;
  /** Sends again what may have been lost. Has to be called regularly while `isBusy`. */
  tick(nowMs: number): void;
  /** Takes the outputs since the last call, in order. */
  takeOutputs(): readonly LogOutput<R, M>[];
}

export interface RedLogOptions<R> {
  readonly site: Origin;
  readonly sites: readonly Origin[];
  /** The sites that count for a majority. Default: all */
  readonly voters?: readonly Origin[] | undefined;
  /**
   * Returns the change of the sites that a record may make. Nothing behind such a record is
   * delivered before `setMembers`. Default: no record changes them
   */
  readonly getMemberChange?: ((record: R) => MemberChange | undefined) | undefined;
  /** The site that sequences the log, if one does. An engine that elects its leader needs none. */
  readonly leader: Origin;
  /** The name of the log. Default: `red` */
  readonly identity?: string | undefined;
  /** The ordinal of its partition. Default: 0, that of `main` */
  readonly partition?: number | undefined;
  /**
   * Distinguishes new proposals from old ones: as `createEpoch`, larger than at any earlier start
   * in the files.
   */
  readonly epoch: number;
  /** The entries of its log from position `start` (default 0) on, all synced. */
  readonly entries?: readonly LogEntry<R>[];
  readonly start?: number | undefined;
  /**
   * The saved state beside the log. Entries that it had delivered by then are not delivered again.
   */
  readonly saved?: SavedLog | undefined;
  /** The number of first entries that are known to be committed. */
  readonly committed?: number | undefined;
  /** How long a node waits for an answer before it sends again. */
  readonly resendAfterMs: number;
  /** How much is on its way to another site. Default: `DEFAULT_SEND_WINDOWS` */
  readonly windows?: Partial<SendWindows> | undefined;
  /** Default: `DEFAULT_MACHINE_SIZES` */
  readonly sizes?: MachineSizes | undefined;
  /** Creates the digest of the log. Default: `createPrefixDigest` */
  readonly createDigest?: DigestFactory | undefined;
}

/** The change that a record makes to the sites, as far as it is known before the delivery. */
export interface MemberChange {
  /** The sites that it removes. */
  readonly closes: readonly Origin[];
  /** The voters behind it, if the record has all members. */
  readonly voters?: readonly Origin[] | undefined;
}

export interface LogMembers {
  readonly sites: readonly Origin[];
  readonly voters: readonly Origin[];
}

export interface SavedLog {
  /** The number of first entries that were delivered. */
  readonly delivered: number;
  /** The same as a place, as checkpoints have it. */
  readonly position: { readonly seq: number; readonly index: number };
  /** Identifies the log, and its entries before that place. */
  readonly identity?: string;
  readonly digest?: number;
  /** The last of those entries, if an engine has to find it again. */
  readonly last?: EntryName | undefined;
  /**
   * For each proposer of a delivered entry: the epoch of its last one, and the number that comes
   * next.
   */
  readonly progress: readonly (readonly [origin: Origin, epoch: number, next: number])[];
}

/**
 * Messages between nodes of the log. Only its engine reads more than the kind (`LogMessageFormat`).
 */
export interface LogMessage {
  readonly kind: `log.${string}`;
}

/**
 * A request to a server that keeps the log, or a reply. Only the adapter of that engine reads more
 * than the kind.
 */
export interface ServerRequest {
  readonly kind: `etcd.${string}`;
}
export type ServerReply = ServerRequest;

/** Whether a message between sites is for the log. */
export function isLogMessage(message: { readonly kind: string }): message is LogMessage {
  return message.kind.startsWith('log.');
}

/** One entry of the log: a record and the proposal that it came from. */
export interface LogEntry<R> extends EntryName {
  readonly record: R;
}

export type LogOutput<R, M extends LogMessage = LogMessage> =
  | { readonly kind: 'send'; readonly to: Origin; readonly message: M }
  | { readonly kind: 'store'; readonly entries: readonly LogEntry<R>[] }
  /** A request to the server that keeps the log. Its reply comes by `onReply`. */
  | { readonly kind: 'request'; readonly request: ServerRequest }
  /**
   * Records between two places. They begin at the end of the last ones, or are repeated. Anything
   * else is a gap.
   */
  | {
      readonly kind: 'deliver';
      readonly from: number;
      readonly next: number;
      readonly records: readonly R[];
    }
  /**
   * What was to come next is there no more, or the log is another one, ends before what it has
   * delivered, or has what no site of this deployment can have proposed. `differs`: another site
   * has taken other records.
   */
  | { readonly kind: 'gap' | 'regressed' | 'differs'; readonly message: string }
  /** The log has records that only a newer version can read. */
  | { readonly kind: 'outdated'; readonly message: string }
  /** Entries that this node lacks are not kept for it any more. */
  | { readonly kind: 'behind' }
  /** The entries of another node do not continue the log that is here. None of them is taken. */
  | { readonly kind: 'fork'; readonly origin: Origin; readonly message: string }
  /** The log cannot be read for now, or can be again. Requests for it go on waiting. */
  | { readonly kind: 'unavailable' | 'available'; readonly message?: string }
  /**
   * The server is nearly full, and why. New red operations are refused. Without a message they are
   * taken again.
   */
  | { readonly kind: 'full'; readonly message: string | undefined };
