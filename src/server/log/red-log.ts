/**
 * The port of the red log: a totally ordered, durable log that delivers every
 * record at least once to every site, in one order. Only the delivery decides,
 * so a log needs no fence and no lock. Each delivery has its place, and
 * `RedLogConsumer` takes the next place only. A place is the number of entries
 * before it. An engine may repeat, jump, or come back with less than it had.
 */
import type { Origin } from '../records/origin.ts';
import type { StreamPoint } from '../records/records.ts';
import type { SendWindows } from '../records/send-windows.ts';

/**
 * One site's node of the log, as a site drives it: a pure machine, which owns
 * no timer, socket or disk. Nodes are made by their engine
 * (`red-log-engine.ts`); `M` is what those of one engine send each other.
 */
export interface RedLog<R, M extends LogMessage = LogMessage> {
  /**
   * Whether something is in flight that a lost message could hold up: then
   * ticks are needed.
   */
  readonly isBusy: boolean;
  /**
   * The first entry that is needed beside what `save` gives: other sites may
   * lack it, or it is not delivered.
   */
  readonly retainedFrom: number;
  /** How many delivered entries are kept for sites that lack them. */
  readonly backlogLength: number;
  /**
   * The name of this log. A new log, or one of another deployment, has another
   * name.
   */
  identity(): string;
  /**
   * Returns the digest of the first `length` entries, or `undefined` if it is
   * not known, or not any more.
   */
  digest(length: number): number | undefined;
  /**
   * What this node has synced, where one site gives the order: its copy is
   * never shorter than those of others.
   */
  readonly end?: StreamPoint | undefined;
  /**
   * What has to be saved so that the entries delivered so far need not be read
   * again.
   */
  save(): SavedLog;
  /**
   * The first `length` entries are in a checkpoint of this site, which reads no
   * more of them.
   */
  release(length: number): void;
  /**
   * Adds a record. It is delivered at every site once it can no longer be lost;
   * the caller notices by its delivery.
   */
  propose(record: R, nowMs: number): void;
  /**
   * Takes a record back that has not left this node; says whether it has: then
   * it is never delivered.
   */
  withdraw(record: R): boolean;
  /** How many entries are kept that a site lacks. */
  getBacklog?(site: Origin): number;
  /** How many entries a site is known to have. */
  getConfirmed?(site: Origin): number;
  /**
   * The sites as the delivered records have them; to be called after each that
   * may change them.
   */
  setMembers?(members: LogMembers): void;
  /** A message of the node at another site, which is of the same engine. */
  receive(from: Origin, message: M, nowMs: number): void;
  /** The first `length` entries of this node's log are synced. */
  onSynced(length: number): void;
  /**
   * A reply to a request, or a change of the connection to the server that
   * keeps the log. Of an engine that has requests.
   */
  onReply?(reply: ServerReply, nowMs: number): void;
  /** When a tick is due even if nothing is in flight. */
  readonly wakeAtMs?: number | undefined;
  /**
   * To be called now and then while `busy`: sends again what may have been
   * lost.
   */
  tick(nowMs: number): void;
  /** What has to be done since the last call, in order. */
  takeOutputs(): readonly LogOutput<R, M>[];
}

export interface RedLogOptions<R> {
  readonly site: Origin;
  readonly sites: readonly Origin[];
  /** Those that count for what a majority has; all unless given. */
  readonly voters?: readonly Origin[] | undefined;
  /**
   * Looks into a record that may change the sites: nothing behind it is
   * delivered before `setMembers`. None unless given.
   */
  readonly getMemberChange?:
    | ((record: R) => MemberChange | undefined)
    | undefined;
  /**
   * The site that gives the order, if one does. An engine that elects its
   * leader needs none.
   */
  readonly leader: Origin;
  /** What the log is called; `red` unless given. */
  readonly identity?: string | undefined;
  /**
   * Distinguishes its new proposals from old ones: as `createEpoch`, larger
   * than at any earlier start in its files.
   */
  readonly epoch: number;
  /**
   * What its log held at the start from position `start` (default 0) on, all
   * synced.
   */
  readonly entries?: readonly LogEntry<R>[];
  readonly start?: number | undefined;
  /**
   * What was saved beside the log: entries that it had delivered by then are
   * not delivered again.
   */
  readonly saved?: SavedLog | undefined;
  /** Entries known to be committed: the first so many. */
  readonly committed?: number | undefined;
  /** How long a node waits for an answer before it sends again. */
  readonly resendAfterMs: number;
  /** How much is on its way to another site; the defaults unless given. */
  readonly windows?: Partial<SendWindows> | undefined;
}

/**
 * What a record does to the sites, as far as is known before it is delivered.
 */
export interface MemberChange {
  /** The site that it takes out, if it does. */
  readonly closes: Origin | undefined;
}

export interface LogMembers {
  readonly sites: readonly Origin[];
  readonly voters: readonly Origin[];
}

export type LastEntry = Pick<
  LogEntry<unknown>,
  'origin' | 'epoch' | 'sequence'
>;

export interface SavedLog {
  /** Entries that were delivered: the first so many. */
  readonly delivered: number;
  /** The same as a place, as checkpoints have it. */
  readonly position: { readonly seq: number; readonly index: number };
  /** Of the log, and of what stands in it before that place. */
  readonly identity?: string;
  readonly digest?: number;
  /** The last of those entries, if an engine has to find it again. */
  readonly last?: LastEntry | undefined;
  /**
   * For each proposer that has one among them: the epoch of the last one, and
   * the number that comes after it.
   */
  readonly progress: readonly (readonly [
    origin: Origin,
    epoch: number,
    next: number,
  ])[];
}

/**
 * What the nodes of the log send each other. Only its engine reads more than
 * the kind (`LogMessageFormat`).
 */
export interface LogMessage {
  readonly kind: `log.${string}`;
}

/**
 * A request to a server that keeps the log, or a reply. Only the adapter of
 * that engine reads more than the kind.
 */
export interface ServerRequest {
  readonly kind: `etcd.${string}`;
}
export type ServerReply = ServerRequest;

/** Whether a message between sites is for the log. */
export function isLogMessage(message: {
  readonly kind: string;
}): message is LogMessage {
  return message.kind.startsWith('log.');
}

/** One entry of the log: a record and the proposal that it came from. */
export interface LogEntry<R> {
  readonly origin: Origin;
  readonly epoch: number;
  readonly sequence: number;
  readonly record: R;
}

export type LogOutput<R, M extends LogMessage = LogMessage> =
  | { readonly kind: 'send'; readonly to: Origin; readonly message: M }
  | { readonly kind: 'store'; readonly entries: readonly LogEntry<R>[] }
  /**
   * To be sent to the server that keeps the log: its reply comes by `onReply`.
   */
  | { readonly kind: 'request'; readonly request: ServerRequest }
  /**
   * Records between two places. They begin where the last ones ended, or come
   * again; anything else is a gap.
   */
  | {
      readonly kind: 'deliver';
      readonly from: number;
      readonly next: number;
      readonly records: readonly R[];
    }
  /**
   * What was to come next is there no more, or the log is another one, ends
   * before what it has delivered, or has what no site of this deployment can
   * have proposed. `differs`: another site has taken other records.
   */
  | { readonly kind: 'gap' | 'regressed' | 'differs'; readonly message: string }
  /** It has what only a newer version can read. */
  | { readonly kind: 'outdated'; readonly message: string }
  /** What this node lacks is not kept for it any more. */
  | { readonly kind: 'behind' }
  /**
   * What another node sends does not continue what is here: nothing is taken of
   * it.
   */
  | { readonly kind: 'fork'; readonly origin: Origin; readonly message: string }
  /**
   * It cannot be read for now, or can be again: what waits for it goes on
   * waiting.
   */
  | { readonly kind: 'unavailable' | 'available'; readonly message?: string }
  /**
   * Its server is nearly full, and why: new red operations are refused. Without
   * a message they are taken again.
   */
  | { readonly kind: 'full'; readonly message: string | undefined };
