/**
 * The port of the red log: a totally ordered, durable log that delivers every record at least once to every site, in
 * one order. Delivery decides, so that nothing more is asked of it: no fence, no lock. What it delivers says where it
 * stands, and `RedFeed` takes of it what comes next: an engine may repeat, jump, or come back with less than it had.
 */
import type { Origin } from '../records/origin.ts';
import type { Position } from './position.ts';

/**
 * One site's node of the log, as a site drives it: a pure machine, which owns no timer, socket or disk. Another engine has
 * these members, and is made by `makeRedLog` of a `SiteMachine`.
 */
export interface RedLog<R> {
  /** Whether something is under way that a lost message could hold up: then ticks are needed. */
  readonly busy: boolean;
  /** The first entry that is needed beside what `save` gives: other sites may lack it, or it is not delivered. */
  readonly keptFrom: number;
  /** How many delivered entries are kept for sites that lack them. */
  readonly backlog: number;
  /** Which log it is: one that was made anew, or of another deployment, is called otherwise. */
  identity(): string;
  /**
   * Of all that stands before a place: the same at all sites that have the same there, and save the same `digestFrom`.
   * `undefined` where it is not known, or not any more.
   */
  digest(position: Position): number | undefined;
  /** What has to be saved so that the entries delivered so far need not be read again. */
  save(): SavedLog;
  /** All before this place is in a checkpoint of this site, which reads no more of it. That it was delivered is not enough. */
  release(position: Position): void;
  /** Adds a record. It is delivered at every site once it can no longer be lost; the caller notices by its delivery. */
  propose(record: R, nowMs: number): void;
  /** Takes a record back that has not left this node; says whether it has: then it is never delivered. */
  withdraw(record: R): boolean;
  /** A message of the node at another site. */
  receive(from: Origin, message: LogMessage<R>, nowMs: number): void;
  /** The first `length` entries of this node's log are synced. */
  onSynced(length: number): void;
  /** To be called now and then while `busy`: sends again what may have been lost. */
  tick(nowMs: number): void;
  /** What has to be done since the last call, in order. */
  takeOutputs(): readonly LogOutput<R>[];
}

/** The state of a node as it is saved. */
export interface SavedLog {
  /** Entries that were delivered: the first so many. */
  readonly delivered: number;
  /** Where reading goes on. */
  readonly position: Position;
  /** Of the log, and of what stands in it before that place; unknown of what a version before has saved. */
  readonly identity?: string;
  readonly digest?: number;
  /** Where the digest begins, if that is not the beginning: so it is after a version that kept none. */
  readonly digestFrom?: number;
  /** For each proposer that has one among them: the epoch of the last one, and the number that comes after it. */
  readonly progress: readonly (readonly [origin: Origin, epoch: number, next: number])[];
}

/** What the nodes of the log tell each other. */
export type LogMessage<R> =
  /** The sender's `sequence`-th proposal since it started in `epoch`. */
  | { readonly kind: 'log.propose'; readonly epoch: number; readonly sequence: number; readonly record: R }
  /** Entries from `position` on, of which those before `committed` are held by a majority. */
  | {
      readonly kind: 'log.append';
      readonly position: number;
      readonly entries: readonly LogEntry<R>[];
      readonly committed: number;
    }
  /** All entries before `length` are synced at the sender, which knows of those before `committed` that they count. */
  | { readonly kind: 'log.appended'; readonly length: number; readonly committed: number };

/** One entry of the log: a record and the proposal that it came from. */
export interface LogEntry<R> {
  readonly origin: Origin;
  readonly epoch: number;
  readonly sequence: number;
  readonly record: R;
}

/** What a node of the log wants done. */
export type LogOutput<R> =
  | { readonly kind: 'send'; readonly to: Origin; readonly message: LogMessage<R> }
  | { readonly kind: 'store'; readonly entries: readonly LogEntry<R>[] }
  /**
   * Records of whole groups, which stand between two places. They begin where the last ones ended, or have all been
   * delivered before; whatever else comes is a gap.
   */
  | { readonly kind: 'deliver'; readonly from: Position; readonly next: Position; readonly records: readonly R[] }
  /** What was to come next is there no more, or the log is another one, or ends before what it has delivered. */
  | { readonly kind: 'gap' | 'regressed'; readonly message: string }
  /** It cannot be read for now, or can be again: what waits for it goes on waiting. */
  | { readonly kind: 'unavailable' | 'available' };
