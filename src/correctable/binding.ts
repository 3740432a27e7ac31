/**
 * The binding interface: the only interface between Correctables and a store (Correctables, OSDI
 * 2016, §5.1, Listing 7). The functions at the end are shared by bindings and by wrappers of
 * bindings.
 */
import { getElapsedMs, systemClock, type Timer } from './clock.ts';
import type { CorrectableError } from './errors.ts';
import { getToStringTag } from './built-in-class.ts';
import type { Levels } from './level-types.ts';
import type { Operation } from './operation.ts';

/** Facts that a binding can add to a view beside its value. */
export interface ViewDetails {
  /**
   * The store's version of the value. A preliminary view with an older version than one delivered
   * before is dropped. A final view with an older version is delivered, and has `regressed`.
   */
  readonly version?: unknown;
  /**
   * Extra facts for the application, for example `{ remaining }`. With `regressed: true`, a final
   * view has `regressed`: the store has lost something that its session has seen.
   */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Marks this view as the final view, since the operation has no stronger level. Its level is the
   * level achieved. A view at the strongest requested level, or a stronger one, is final in any
   * case.
   */
  readonly final?: boolean | undefined;
}

/**
 * Receives the views of one operation from a binding. Methods may be called synchronously, in any
 * order and too often. Misuse (a call after closing, an unknown level) is counted and never thrown
 * back into the binding.
 */
export interface Sink<in T = unknown, in Level extends string = string> {
  /**
   * Delivers a view of the result at `level`. A view at the strongest requested level, or a
   * stronger one, closes the operation. So does a view whose `details` have `final`.
   *
   * @returns the sequence number of the value, counted from 0 over all calls of `view`. The value
   * is kept for `confirm` whether the view was delivered or dropped.
   */
  view(value: T, level: Level, details?: ViewDetails): number;
  /**
   * Delivers a view at `level` with the value of the earlier call of `view` that returned `seq`: a
   * confirmation without payload. If there is none, the operation closes with `PROTOCOL`. `details`
   * replace the earlier ones key by key.
   */
  confirm(level: Level, seq: number, details?: ViewDetails): void;
  /**
   * Fails the operation: as a whole, or only at `level`. A weak level that fails does not fail the
   * operation while a stronger one is pending.
   */
  fail(error: unknown, level?: Level): void;
}

/** Opaque state by which a binding keeps read-your-writes and monotonic reads across operations. */
export interface BindingSession {
  /**
   * Tokens of what the session has seen, for `openSession` at another server of the same
   * deployment. At most one for each server, opaque and signed. Absent if a session cannot leave
   * its server.
   */
  readonly tokens?: readonly string[] | undefined;
  /** Releases what the binding holds for the session. */
  close?(): void;
}

/** Origin of a submission that may be repeated: after a lost connection, or at another site. */
export interface SubmissionOrigin {
  /** Name of the client: unique, and the same at every site. */
  readonly client: string;
  /** Counts the client's operations, from 1. */
  readonly sequence: number;
  /**
   * Number up to which the client has all results of its operations. It will not request them
   * again.
   */
  readonly acknowledged: number;
  /** Name of the site that the operation was sent to first. Default: the site that receives it */
  readonly home?: string | undefined;
  /** How often the client has changed sites with this operation. Default: 0 */
  readonly hop?: number | undefined;
}

/**
 * Progress of a submission, from a binding that may have to wait before it can pass an operation
 * on.
 */
export interface SubmissionStatus {
  /**
   * Whether the operation may have reached the store: false while the client certainly has not sent
   * it.
   */
  readonly mayHaveBeenSent: boolean;
  /**
   * Why the submission has not gone further, for example no connection, since when and why.
   * `undefined` if nothing blocks it.
   */
  readonly blockedBy: CorrectableError | undefined;
  /** Errors of single levels, by level, that the sink did not receive. */
  readonly levelErrors?: Readonly<Record<string, unknown>> | undefined;
}

/** The authenticated user behind an operation. */
export interface Principal {
  /** Stable name. Operation ids belong to it. */
  readonly id: string;
  /**
   * When the token expires, in milliseconds since the epoch. Unless it was renewed, the connection
   * is then closed.
   */
  readonly expiresAt?: number | undefined;
}

/** The context of one submission. */
export interface InvocationContext {
  /**
   * Aborts when no caller wants the views any more (cancelled, timed out, disposed). A slow read
   * must deliver no view after that; a submitted update still runs to its end. Created on first
   * use, so a read that ignores it pays nothing. Remove your listeners when the operation has
   * closed.
   */
  readonly signal: AbortSignal;
  /**
   * Time at which the client gives up, in milliseconds since the epoch. Computed on each access,
   * because the machine's clock may have been set meanwhile. `undefined` if there is no deadline.
   */
  readonly deadlineAt: number | undefined;
  /** Signals of levels with a timeout of their own: each aborts after that timeout. */
  readonly levelSignals?: Readonly<Record<string, AbortSignal>> | undefined;
  /** The session made by this binding's `openSession`, if the operation was invoked in one. */
  readonly session: BindingSession | undefined;
  /** Trace context to pass on, for example a W3C `traceparent`. */
  readonly trace: unknown;
  /**
   * The user for whom the operation is executed: the principal that a gateway passes to
   * `authorize`. `undefined` if the operation was invoked in this process without `withPrincipal`.
   */
  readonly principal?: Principal | undefined;
  /**
   * Identifies one submission: the same for every repetition. A store that remembers the id
   * executes an update once, at one server. If the context has an `origin`, the `origin` identifies
   * the submission instead.
   */
  readonly operationId?: string | undefined;
  /**
   * Names the update across clients, processes and servers. If it is submitted twice with one key,
   * the store executes it once and answers twice. Requires `hasIdempotencyKeys`. A gateway puts its
   * client's principal in front.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The parts of `operationId`, for a store of several sites. It executes an update once, whichever
   * site gets it.
   */
  readonly origin?: SubmissionOrigin | undefined;
  /**
   * The progress of the submission. A binding that knows it sets this field and keeps it up to date
   * until the operation has closed. When the client gives up, it reads here whether the operation
   * may have taken effect. If the field is absent, a submitted update counts as one that may have
   * taken effect.
   */
  submissionStatus?: SubmissionStatus | undefined;
}

/**
 * Gives access to one storage stack: the levels that it offers and how an operation yields a view
 * at each.
 *
 * If you write a binding, run the conformance suite of `correctables/testing` on it.
 *
 * `C` is `true` if the views of an operation have the levels that its contract specifies. Only then
 * does the type of a final view follow the contract. Otherwise its level is unknown to the types,
 * because the same contract may run on a store with other levels.
 */
export interface Binding<L extends Levels = Levels, out C extends boolean = boolean> {
  readonly name: string;
  /** Carries `C` for the types; never present at run time. */
  readonly hasContractLevels?: C;
  /**
   * Whether the store itself executes an update once, however often it is submitted with the same
   * `origin`. This holds after a restart and at another of its servers. An `operationId` alone does
   * not name a server. So without an `origin`, only the server that received the id first
   * recognizes it again. A gateway passes both. Unless `true`, a gateway that does not know if an
   * update was executed answers `UNKNOWN` and does not resubmit it.
   */
  readonly isExactlyOnce?: boolean | undefined;
  /**
   * Whether the store executes an update once for each `idempotencyKey`, from any client. A reused
   * key with another operation or other arguments fails with `INVALID_ARGUMENT`. Unless `true`,
   * clients and gateways refuse keys.
   */
  readonly hasIdempotencyKeys?: boolean | undefined;
  /**
   * Whether the store identifies the user of each operation by the connection that sent it. Then a
   * principal in the context has no effect, and `withPrincipal` refuses the binding.
   */
  readonly identifiesByConnection?: boolean | undefined;
  /**
   * Why this stack has failed for good and answers nothing any more. Absent or `undefined` while it
   * works. A gateway that hosts it reports this in its health check.
   */
  readonly failure?: CorrectableError | undefined;
  /**
   * Why this stack refuses updates for now, while it serves reads. Absent or `undefined` while it
   * takes them. A gateway that hosts it is not ready then, so that a balancer sends clients
   * elsewhere.
   */
  readonly writeRefusal?: CorrectableError | undefined;
  /**
   * Executes the operations that the binding has collected so far. Absent if the binding does not
   * collect operations. A gateway calls it between parts of a large frame.
   */
  flush?(): void;
  /**
   * Returns the application's name of the principal that is signed in now. Absent if the binding
   * does not know it. A submission belongs to the principal who was signed in when it was made. A
   * cache in front of the binding stores views under that principal, and shows them to no other.
   *
   * @throws what the application's own function throws, and `INVALID_ARGUMENT` if that returns no
   * string
   */
  principal?(): string;
  /**
   * Returns a string that changes whenever the contract changes the result of the operation `name`;
   * `undefined` if no contract is known. A cache in front of the binding stores views under this
   * string, so that no view is used after its type has changed.
   */
  operationHash?(name: string): string | undefined;
  /**
   * Returns the levels of this stack, weakest first: the same tuple for the life of the binding.
   */
  consistencyLevels(): L;
  /** Returns whether this stack can execute the operation. */
  supports(operation: Operation): boolean;
  /**
   * Returns why this stack cannot execute an operation that it does not support, and what to use
   * instead. The message of `UNSUPPORTED` ends with that, in the client and behind a gateway.
   * Absent or `undefined` if there is no more to say.
   */
  describeUnsupported?(operation: Operation): string | undefined;
  /**
   * Executes `operation` and calls `sink` once for each of `levels`: a non-empty subset of
   * `consistencyLevels()`, in order. A level that the operation does not have is skipped. If that
   * is the strongest requested one, the next stronger level of the operation answers instead. If it
   * has none, its strongest answers, as `final`. Either view has the level achieved. A stronger
   * level also answers if the strongest requested level of an update fails or comes too late. So a
   * level weaker than its final never fails an update. If the final of a read fails while a weaker
   * level is in flight, the binding awaits that first, for a bounded time. No view can follow the
   * failure.
   *
   * If it throws, the operation fails with that error. If it returns a promise, the submission ends
   * with that promise. Without a final view by then, the operation closes with
   * `CLOSED_WITHOUT_FINAL`, or with the rejection.
   */
  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void | PromiseLike<void>;
  /**
   * Returns whether `version` is older than `than`. Default: numbers, bigints and dates compare by
   * size. Anything else is not comparable, thus never older.
   */
  isOlder?(version: unknown, than: unknown): boolean;
  /**
   * Opens a separate handle on the same stack, for one client. Closing it ends only what was
   * submitted through it. `createClient`, and every wrapper of a binding, takes one. If this method
   * is absent, they use the binding itself, and close it when they are closed.
   */
  openHandle?(): Binding<L>;
  /**
   * Opens a session, or continues the one that has the `tokens`. Absent if the stack cannot keep
   * sessions.
   */
  openSession?(tokens?: readonly string[]): BindingSession;
  /**
   * Calls `listener` each time that the store can be reached again after it could not. Returns a
   * function that ends that. Absent if the binding cannot detect this.
   */
  onReconnect?(listener: () => void): () => void;
  /**
   * Releases connections and timers. Reads in flight fail with `UNAVAILABLE`. So do updates that
   * certainly will not take effect any more; other updates fail with `UNKNOWN`.
   */
  close(): Promise<void>;
}

/** Compares versions for a binding without an `isOlder` of its own. */
export function isOlder(version: unknown, than: unknown): boolean {
  const tag = getToStringTag(version);
  return (
    /Number|BigInt|Date/.test(tag) &&
    tag === getToStringTag(than) &&
    (version as number) < (than as number)
  );
}

/**
 * Merges the details of an earlier view with those of its confirmation, key by key. Only the
 * confirmation specifies whether it is final.
 */
export function mergeDetails(
  retained: ViewDetails,
  { version, meta, final }: ViewDetails = {},
): ViewDetails {
  const merged = retained.meta || meta ? { ...retained.meta, ...meta } : undefined;
  return { version: version ?? retained.version, meta: merged, final };
}

/**
 * How long an operation runs before its signal is read. The first access creates the signal, which
 * costs more than most of a read, so a quick read never reads it.
 */
export const SIGNAL_CHECK_DELAY_MS = 20;

/**
 * Returns whether the caller of an operation that began at `sinceMs` waits no more. Always false
 * within the first `SIGNAL_CHECK_DELAY_MS`, so that quick operations create no signal.
 */
export function isAbandoned(waiting: { readonly signal: AbortSignal }, sinceMs = 0): boolean {
  return getElapsedMs() - sinceMs > SIGNAL_CHECK_DELAY_MS && waiting.signal.aborted;
}

/** How long a failed read waits for a weaker level, in milliseconds. */
const WEAKER_TIMEOUT_MS = 1_000;

/**
 * Waits for pending weaker levels before a whole read fails (COR-6). Waits at most
 * `WEAKER_TIMEOUT_MS`, and for no level longer than its own timeout. The timer of this wait keeps
 * the process alive only if the operation has no deadline: a deadline does so already.
 */
export async function waitForWeaker(
  inFlight: Promise<unknown>,
  { deadlineAt }: { readonly deadlineAt: number | undefined },
  late?: AbortSignal,
): Promise<void> {
  let timer: Timer | undefined;
  const inTime = new Promise<void>((resolve) => {
    timer = systemClock.setTimer(resolve, WEAKER_TIMEOUT_MS);
    if (deadlineAt !== undefined) timer.setRef?.(false);
    if (late?.aborted) resolve();
    late?.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([inFlight, inTime]);
  timer?.cancel();
}

/**
 * Binds the methods and getters of `target` to it and returns it. They then also work on a proxy of
 * it, so a binding can be kept in the state of a framework.
 */
export function bindMethods<T extends object>(target: T): T {
  const prototype = Object.getPrototypeOf(target) as object;
  for (const [name, { value, get }] of Object.entries(
    Object.getOwnPropertyDescriptors(prototype),
  )) {
    if (name === 'constructor') continue;
    const bound = get
      ? { get: get.bind(target) as () => unknown }
      : { value: (value as () => unknown).bind(target), writable: true };
    Object.defineProperty(target, name, { ...bound, configurable: true });
  }
  return target;
}
