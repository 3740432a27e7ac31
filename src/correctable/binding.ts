/**
 * The binding interface: the only seam between Correctables and a store (Correctables, OSDI 2016, §5.1,
 * Listing 7). At the end, what bindings and those who put themselves in front of one share.
 */
import { getElapsedMs, systemClock, type Timer } from './clock.ts';
import type { CorrectableError } from './errors.ts';
import { getToStringTag } from './built-in-class.ts';
import type { Levels } from './level-types.ts';
import type { Operation } from './operation.ts';

/** What a binding may say about a view beside its value. */
export interface ViewDetails {
  /**
   * The store's version of the value. A preliminary view with an older one than was delivered before is dropped; a final
   * view never is, and says `regressed`.
   */
  readonly version?: unknown;
  /** Extra facts for the application, for example `{ remaining }`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Nothing stronger comes, since the operation has no stronger level: this view is the final, and its level says what was
   * reached. A view at the strongest requested level, or above it, is the final in any case.
   */
  readonly final?: boolean | undefined;
}

/**
 * Where a binding delivers the views of one operation. Methods may be called synchronously, in any order and too
 * often: misuse (a call after closing, an unknown level) is counted and never thrown back into the binding.
 */
export interface Sink<in T = unknown, in Level extends string = string> {
  /**
   * A view of the result at `level`. At the strongest requested level or a stronger one it closes the operation, and so
   * does one whose `details` say that it is final.
   *
   * @returns the sequence number that the sink gave to the value, counted from 0 over all calls of `view`; the value
   * is kept for `confirm` whether the view was delivered or dropped.
   */
  view(value: T, level: Level, details?: ViewDetails): number;
  /**
   * A view at `level` whose value is that of the earlier call of `view` which returned `seq`: a confirmation without
   * payload. No such view closes the operation with `PROTOCOL`. `details` replace the earlier ones key by key.
   */
  confirm(level: Level, seq: number, details?: ViewDetails): void;
  /**
   * The operation failed: as a whole, or only at `level`. A weak level that fails does not fail the operation while a
   * stronger one is pending.
   */
  fail(error: unknown, level?: Level): void;
}

/** Opaque state by which a binding keeps read-your-writes and monotonic reads across operations. */
export interface BindingSession {
  /**
   * What the session has seen, to be handed to `openSession` at another server of the same deployment: at most one token
   * a server, opaque and signed. Absent where a session cannot leave its server.
   */
  readonly tokens?: readonly string[] | undefined;
  /** Releases what the binding holds for the session. */
  close?(): void;
}

/** Where a submission comes from that may be repeated: after a lost connection, or at another site. */
export interface SubmissionOrigin {
  /** The client: unique, and the same wherever it goes. */
  readonly client: string;
  /** Counts the client's operations, from 1. */
  readonly sequence: number;
  /** The client has the answers of its operations up to this number and will not ask for them again. */
  readonly acknowledged: number;
  /** Name of the site that the operation was sent to first; the one asked, unless given. */
  readonly home?: string | undefined;
  /** How often the client has changed sites with this operation; 0 unless given. */
  readonly hop?: number | undefined;
}

/** Where a submission is, said by a binding that may have to wait before it can pass an operation on. */
export interface SubmissionStatus {
  /** Whether the operation may have reached the store: false while it certainly has not left. */
  readonly mayHaveBeenSent: boolean;
  /**
   * Why it has not gone further, for example that there is no connection, since when and why; `undefined` where nothing
   * is known to be wrong.
   */
  readonly blockedBy: CorrectableError | undefined;
  /** What single levels have failed with, by level, where the sink was not told. */
  readonly levelErrors?: Readonly<Record<string, unknown>> | undefined;
}

/** The circumstances of one submission. */
export interface InvocationContext {
  /**
   * Aborted when nobody wants the views any more (cancelled, timed out, disposed). A read that takes its time is told no
   * more then; an update that was submitted runs to its end all the same. Made on first use: a read that is answered
   * without a look at it costs no signal. Listeners are to be taken away when the operation has closed.
   */
  readonly signal: AbortSignal;
  /**
   * When the client gives up, in milliseconds since the epoch by the machine's clock as it is set when this is asked for;
   * `undefined` for no deadline.
   */
  readonly deadlineAt: number | undefined;
  /** Of levels with a time limit of their own: each aborted once that has passed. */
  readonly levelSignals?: Readonly<Record<string, AbortSignal>> | undefined;
  /** The session made by this binding's `openSession`, if the operation was invoked in one. */
  readonly session: BindingSession | undefined;
  /** Trace context to hand on, for example a W3C `traceparent`. */
  readonly trace: unknown;
  /**
   * The same for every repetition of one submission: a store that keeps it executes an update once, at one server. Where
   * there is an `origin`, that says which submission it is.
   */
  readonly operationId?: string | undefined;
  /**
   * Names the update across clients, processes and servers: submitted twice with one key, it is executed once and answered
   * twice. Set only if the binding says `hasIdempotencyKeys`. A gateway puts the principal of its client in front of the key.
   */
  readonly idempotencyKey?: string | undefined;
  /** The same in parts, for a store of several sites: it executes an update once at whichever of them it is asked for. */
  readonly origin?: SubmissionOrigin | undefined;
  /**
   * Set by a binding that knows, and kept true by it until the operation has closed: read when the client gives up, to
   * tell what has certainly not happened from what may have. Without it, what was submitted may have taken effect.
   */
  submissionStatus?: SubmissionStatus | undefined;
}

/**
 * Access to one storage stack: the levels that it offers and how an operation yields a view at each.
 *
 * Whoever writes a binding runs the contract suite of `correctables/testing` on it.
 *
 * `C` is `true` where the views of an operation have the levels that its contract says: the types of finals believe it
 * there, and nowhere else. A store with other levels, or with others in front, may run the same contract.
 */
export interface Binding<L extends Levels = Levels, out C extends boolean = boolean> {
  readonly name: string;
  /** Carries `C` for the types; never present at run time. */
  readonly hasContractLevels?: C;
  /**
   * Whether the store itself executes an update once however often it is submitted with the same `origin`, also after a
   * restart and at another of its servers; with the same `formatOperationId` and no `origin`, at the server that had it first,
   * for that name says of no server that it is its home. Unless `true`, a gateway that does not know whether an update was
   * executed answers `UNKNOWN` rather than submit it again; it gives both.
   */
  readonly isExactlyOnce?: boolean | undefined;
  /**
   * Whether the store executes an update once for each `idempotencyKey`, whoever submits it. A key that comes again with
   * another operation or other arguments fails with `INVALID_ARGUMENT`. Unless `true`, clients and gateways refuse keys.
   */
  readonly hasIdempotencyKeys?: boolean | undefined;
  /**
   * Why this stack has failed for good and answers nothing any more; absent or `undefined` while it works. A gateway that
   * hosts it says so to whoever asks for its health.
   */
  readonly failure?: CorrectableError | undefined;
  /**
   * Who it asks as at present, as the application calls whoever is signed in; absent where it is not told. What was
   * submitted belongs to whoever this was then: a cache in front files views under it, and shows them to no other.
   *
   * @throws what the application's own function throws, and `INVALID_ARGUMENT` where that gives no text
   */
  principal?(): string;
  /**
   * Returns a text that changes whenever the contract changes what the operation called `name` returns; `undefined` if no
   * contract is known. A cache in front files views under it, so that none outlives a change of its type.
   */
  operationHash?(name: string): string | undefined;
  /** The levels of this stack, weakest first. The same tuple for the life of the binding. */
  consistencyLevels(): L;
  /** Whether this stack can execute the operation. */
  supports(operation: Operation): boolean;
  /**
   * Executes `operation` and calls `sink` once for each of `levels` (a non-empty subset of `consistencyLevels()`, in
   * order). A level that the operation does not have is skipped; where that is the strongest requested one, the next
   * stronger level that the operation has answers instead, and where it has none, its strongest, as `final`: either way
   * labeled with the level achieved. So the stronger one does where the strongest requested level of an update fails or
   * comes too late: a weaker level than its final never fails an update. Where the final of a read fails while a weaker
   * level is in flight, that is awaited first, for a bounded time: nobody hears of it after the failure.
   *
   * What it throws fails the operation. Where it returns a promise, the end of that promise is the end of the
   * submission: without a final view by then the operation closes with `CLOSED_WITHOUT_FINAL`, or with the rejection.
   */
  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void | PromiseLike<void>;
  /**
   * Whether `version` is older than `than`. Absent: numbers, bigints and dates compare by size, and anything else counts
   * as not comparable, thus never as older.
   */
  isOlder?(version: unknown, than: unknown): boolean;
  /**
   * A handle of its own on what stands behind this binding, for one client: closing the handle ends what was submitted
   * through it and nothing else. `createClient`, and whatever puts itself in front of a binding, takes one. Absent where
   * the binding belongs to whoever closes it.
   */
  openHandle?(): Binding<L>;
  /** Opens a session, or goes on with one that has the `tokens`; absent where the stack cannot keep one. */
  openSession?(tokens?: readonly string[]): BindingSession;
  /**
   * Releases connections and timers. Reads still in flight fail with `UNAVAILABLE`; updates too where they certainly do
   * not take effect any more, otherwise with `UNKNOWN`.
   */
  close(): Promise<void>;
}

/** The order of versions that need no binding to be compared. */
export function isOlder(version: unknown, than: unknown): boolean {
  const tag = getToStringTag(version);
  return /Number|BigInt|Date/.test(tag) && tag === getToStringTag(than) && (version as number) < (than as number);
}

/** The details of an earlier view, replaced key by key by those of its confirmation, which alone says whether it is final. */
export function mergeDetails(retained: ViewDetails, details?: ViewDetails): ViewDetails {
  const meta = retained.meta || details?.meta ? { ...retained.meta, ...details?.meta } : undefined;
  return { version: details?.version ?? retained.version, meta, final: details?.final };
}

/** A signal is made when it is first looked at, which costs more than most of a read: one that is as quick does not. */
export const SIGNAL_CHECK_DELAY_MS = 20;

/** Whether nobody waits any more for what began at `startedAtMs`, by `elapsedMs`, and took its time. */
export function isAbandoned(waiting: { readonly signal: AbortSignal }, sinceMs = 0): boolean {
  return getElapsedMs() - sinceMs > SIGNAL_CHECK_DELAY_MS && waiting.signal.aborted;
}

/** In milliseconds. */
const WEAKER_TIMEOUT_MS = 1_000;

/**
 * Before a whole read fails: waits for what weaker levels have in flight, but not for long (C6), nor once the time limit
 * of their level has passed. A deadline keeps the process alive as long as anybody waits; where there is none, this does.
 */
export async function waitForWeaker(
  inFlight: Promise<unknown>,
  { deadlineAt }: Pick<InvocationContext, 'deadlineAt'>,
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
 * Binds the methods and getters of `target` to it and returns it: they work on a proxy of it as well, so that a binding
 * can be kept in the state of a framework.
 */
export function bindMethods<T extends object>(target: T): T {
  const prototype = Object.getPrototypeOf(target) as object;
  for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor') continue;
    const bound = get
      ? { get: get.bind(target) as () => unknown }
      : { value: (value as () => unknown).bind(target), writable: true };
    Object.defineProperty(target, name, { ...bound, configurable: true });
  }
  return target;
}
