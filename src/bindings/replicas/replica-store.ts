/**
 * What the binding needs of a store with a primary and replicas. An adapter of a store implements
 * it.
 *
 * A *position* is a place in the log of the primary that replicas follow.
 */
import type { InvocationContext } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { LevelContext } from '../shared/level-call.ts';
import type { ReplicasAlarm } from './replicas-alarm.ts';

/** The levels of a binding to a store with replicas. */
export type ReplicaLevels = readonly ['replica', 'primary'];

export const REPLICA_LEVELS: ReplicaLevels = ['replica', 'primary'];

/** The context of one call of a store. */
export interface ReplicaCall extends LevelContext {
  /**
   * Names the write across clients and processes, if the caller gave a name. Only stores with
   * `hasIdempotencyKeys` get one.
   */
  readonly idempotencyKey: string | undefined;
  /** Whether the read is of a session. Only then it needs `seenUpTo`. */
  readonly needsSeenUpTo: boolean;
  /**
   * A position that the session has seen. If the server of a read can wait until it has reached
   * one, let it wait for this one: an answer from before gives no view. At an old primary, whose
   * log ends before that of the session, reads and writes must fail. `undefined` without a session,
   * or if the session has no position.
   */
  readonly after: unknown;
  /**
   * Call it when a write is sent, or certainly will be, and let its error pass. It throws if the
   * caller got the error that the write was not made: do not send it then. Call it before the first
   * `await` if there is a connection.
   */
  readonly markSent: () => void;
  /**
   * Call it if a write that was sent has certainly changed nothing, and will be sent again. Then
   * `markSent` throws if the caller has left meanwhile.
   */
  readonly markUnsent: () => void;
}

/** When the caller of an update that waits for its turn leaves. */
export type WaitingCaller = Pick<InvocationContext, 'signal' | 'deadlineAt'>;

/** Facts about a value, for the view. */
export interface ReplicaDetails {
  /** The version of the value. Default: the position */
  readonly version?: unknown;
  /** Facts for the application, for example `{ remaining }`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The result of a read. */
export interface ReplicaRead<Position> extends ReplicaDetails {
  readonly value: unknown;
  /**
   * The read has seen every write up to this position. Take it from the server before the value, or
   * together with it. `undefined` if it is unknown: then sessions cannot use this replica.
   */
  readonly position: Position | undefined;
  /**
   * The read has seen no write beyond this position. Take it from the server after the value, if
   * the call has `needsSeenUpTo`. Default: `position`, for a store that reads the value and its
   * position at once.
   */
  readonly seenUpTo?: Position | undefined;
}

/** The result of a write. */
export interface ReplicaWrite<Position> extends ReplicaDetails {
  readonly value: unknown;
  /**
   * A state at this position has the write. `undefined` if it is unknown: then the session reads at
   * the primary next.
   */
  readonly position: Position | undefined;
}

/**
 * A store with one primary that replicas follow. `Position` is plain data, as JSON has it, because
 * session tokens carry it.
 *
 * Throw a `CorrectableError` if you know what a failure means. Any other error is `UNAVAILABLE`.
 * After `markSent`, any other error of a write is `UNKNOWN`.
 */
export interface ReplicaStore<Position = unknown> {
  /** Name of the store in messages and tokens. */
  readonly name: string;
  /** The names of the replicas, the nearest first. May be empty. */
  readonly replicas: readonly string[];
  /** Whether writes with an `idempotencyKey` are executed once for each key. */
  readonly hasIdempotencyKeys?: boolean | undefined;
  supports(operation: Operation): boolean;
  /** Returns why an operation is not supported, and what to use instead. */
  describeUnsupported?(operation: Operation): string | undefined;
  /** Reads at a server: one of `replicas`, or `primary`. Takes one round trip. */
  read(operation: Operation, server: string, call: ReplicaCall): Promise<ReplicaRead<Position>>;
  /**
   * Waits until an update may begin, if the store limits how many are in flight at a time. The
   * preliminary view of the update is read after that. Returns what to call when the update is
   * over. Default: updates begin at once
   *
   * @throws CorrectableError if the caller leaves before
   */
  enter?(
    operation: Operation,
    caller: WaitingCaller,
  ): Promise<() => void> | (() => void) | undefined;
  /** Executes an update at the primary, once. */
  write(operation: Operation, call: ReplicaCall): Promise<ReplicaWrite<Position>>;
  /**
   * Returns the likely result of an update by the state of a replica, for the preliminary view of
   * the update. `undefined` if it has none. Default: updates have no preliminary view
   */
  preview?(
    operation: Operation,
    server: string,
    call: ReplicaCall,
  ): Promise<ReplicaRead<Position> | undefined>;
  /**
   * Returns the position of the primary now. It shows how far replicas are behind while no
   * operation reads the primary. Default: `lagMs` is known only from such operations
   */
  readPosition?(): Promise<Position>;
  /**
   * Returns whether a state at `have` has every write up to `need`. False if that is unknown, as
   * for positions of two logs.
   */
  reached(have: Position, need: Position): boolean;
  /**
   * Returns whether the primary at `have` lacks something up to `need` for good, as after a
   * failover that has lost it. `have` was read after a session had seen `need`. Views of the
   * session are marked then. Default: no loss is noticed, and a primary that is behind in the same
   * log is not used
   */
  hasLost?(have: Position, need: Position): boolean;
  /**
   * Asks a server for anything, on a connection of its own that is opened for it, so that the name
   * of the server is looked up again. Rejects if the server cannot be used. It decides about a
   * server that gives no answer, and brings one back that has failed. Default: a server that gives
   * no answer for a quarter of the timeout of a read counts as failed, and a later read tries it
   */
  probe?(server: string): Promise<unknown>;
  /**
   * Returns whether the server, and not only this operation, has failed: then it is left alone for
   * a while. A value that cannot be read, or a statement that is refused, must not keep other
   * operations from the server. Default: `UNAVAILABLE`, `OVERLOADED`, and errors that are no
   * `CorrectableError`, except for those of JavaScript itself, such as a `SyntaxError`
   */
  isServerFailure?(error: unknown): boolean;
  /**
   * Called once with the function that reports an alarm, such as `access-refused`. Default: the
   * store reports none
   */
  reportTo?(report: (alarm: ReplicasAlarm) => void): void;
  /** Ends what the adapter has opened. */
  close(): Promise<void>;
}
