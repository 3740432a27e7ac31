/** The client of a store (Correctables, OSDI 2016, §3.2): one call returns several views. */
import type { Binding, BindingSession } from '../binding.ts';
import type { Correctable } from '../correctable.ts';
import { WRITE } from '../side-effects.ts';
import type { ClientStats, DropCounts, EnvironmentOptions } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { createEnvironment, requirePlatform } from '../environment.ts';
import { check, checkFunction, checkOptions, CorrectableError } from '../errors.ts';
import { CorrectableHandle } from './correctable-handle.ts';
import { ASYNC_DISPOSE, DISPOSE } from '../iterate-views.ts';
import type { LevelOrder } from '../level-order.ts';
import { createLevelOrder, getRank, requestLevels, checkLevel } from '../level-order.ts';
import type {
  ContractFinalLevels,
  FinalLevel,
  Levels,
  FinalLevels,
  RequestedLevels,
  Strongest,
  Weakest,
} from '../level-types.ts';
import { createSubmissionError } from './submission-error.ts';
import { addCancelTriggers, checkTimeout } from './create.ts';
import type { Operation } from '../operation.ts';
import type { Policy, SubmitFunction } from '../policy.ts';
import type { SourceOptions } from '../source.ts';
import {
  closeAfter,
  getExtras,
  abortSubmission,
  addCleanUp,
  createAbandonError,
  Source,
} from '../source.ts';

/** The timeout of an operation if neither the call nor the client sets one. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** Options of `createClient`. */
export interface ClientOptions extends EnvironmentOptions {
  /**
   * Timeout of an operation that sets none, in milliseconds; `Infinity` for no limit. Default: 30
   * 000
   */
  readonly timeoutMs?: number | undefined;
  /** Returns the trace context of an operation. Called at each invocation. */
  readonly trace?: (() => unknown) | undefined;
  /**
   * Retries an operation that failed, could succeed next time, and certainly had no effect.
   * Default: no retries. Pass `retryPolicy({ attempts: 3 })` of `correctables/policies`.
   */
  readonly retry?: Policy | undefined;
  /**
   * Lets a read share the views of an equal one in flight: `dedupeReads()` of
   * `correctables/policies`. Default: each read is submitted, so that its views are no older than
   * its call
   */
  readonly dedupeReads?: Policy | undefined;
}

/** Options of `invoke`, `invokeWeak` and `invokeStrong`; `K` names the levels. */
export interface InvokeOptions<K extends string = string> {
  /** Cancels the operation when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Timeout of the operation, in milliseconds; `Infinity` for no limit. Default: that of the client
   */
  readonly timeoutMs?: number | undefined;
  /** Timeouts of single levels, in milliseconds. A weaker level that is late counts as failed. */
  readonly levelTimeoutsMs?: { readonly [level in K]?: number } | undefined;
  /** The session of the operation, made by `session()` of the same client. */
  readonly session?: Session | undefined;
  /** Replaces the policy of the client; `false` for one attempt. */
  readonly retry?: Policy | false | undefined;
  /** Submits this read by itself if `false`, even if the client has `dedupeReads`. */
  readonly dedupeReads?: false | undefined;
  /**
   * Names the update, for retries from another process or after a reload. The store executes it
   * once for each key, and answers a retry with the first outcome. 1 to 128 characters, none of
   * them control characters. Reads ignore it. Fails with `UNSUPPORTED` if the binding has no keys,
   * and with `INVALID_ARGUMENT` if another update used it.
   */
  readonly idempotencyKey?: string | undefined;
}

/**
 * A session at the binding. Its reads see its own writes and never go back in time, across
 * operations and servers.
 */
export interface Session extends Disposable {
  /**
   * Tokens of what the session has seen, for `session({ tokens })` of a client at another site of
   * the same deployment. Empty if the binding's sessions cannot move.
   */
  readonly tokens: readonly string[];
  /** Releases the session. No operation can be invoked in it any more. */
  close(this: void): void;
}

/** Options of `session`. */
export interface SessionOptions {
  /** The tokens of a session to continue. Default: a session that has seen nothing yet */
  readonly tokens?: readonly string[] | undefined;
}

/** The result of `invoke` if the levels `S` were requested of a binding with the levels `L`. */
export type CorrectableForLevels<
  T,
  L extends Levels,
  S extends readonly string[],
  R extends FinalLevels = FinalLevels,
> = Correctable<T, RequestedLevels<L, S>, FinalLevel<L, S, R>>;

/** The levels that a call requests of a binding with the levels `L`. */
export type LevelChoice<L extends Levels> = readonly [L[number], ...L[number][]];

const CLIENT_OPTIONS =
  'clock:object,onUncaught:function,onEvent:function,timeoutMs:number,trace:function,retry:function,dedupeReads:function';

type RawOptions = InvokeOptions & { readonly levels?: readonly string[] };

const INVOKE_OPTIONS =
  'levels:object,signal:object,timeoutMs:number,levelTimeoutsMs:object,session:object,retry:boolean|function,dedupeReads:boolean,idempotencyKey:string';

/** Invokes operations on one store; `C` as in `Binding`. */
export interface Client<L extends Levels, C extends boolean = boolean> extends AsyncDisposable {
  /** The levels of the store, weakest first. */
  readonly levels: L;
  readonly weakest: Weakest<L>;
  readonly strongest: Strongest<L>;
  /** A copy of how many views and calls of the binding were dropped so far, by reason. */
  readonly drops: DropCounts;
  /** A copy of the statistics of the client so far. */
  readonly stats: ClientStats;
  /**
   * Invokes `operation` and returns one view per level. Default: all levels. Never throws: an
   * invalid call closes the Correctable with an error, before anything is sent.
   *
   * @example
   * const stock = store.invoke(get('stock:book'));
   * stock.onUpdate((n) => show(n, 'probably')).onFinal((n) => show(n, 'certainly'));
   */
  invoke<
    T,
    R extends FinalLevels = FinalLevels,
    const S extends LevelChoice<L> | undefined = undefined,
  >(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]> & { readonly levels?: S },
  ): [S] extends [LevelChoice<L>]
    ? CorrectableForLevels<T, L, S, ContractFinalLevels<R, C>>
    : Correctable<T, L, FinalLevel<L, L, ContractFinalLevels<R, C>>>;
  /** Invokes `operation` for one view at the weakest level: fast, possibly stale. */
  invokeWeak<
    T,
    R extends FinalLevels = FinalLevels,
    const _S extends LevelChoice<L> | undefined = undefined,
  >(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableForLevels<T, L, readonly [Weakest<L>], ContractFinalLevels<R, C>>;
  /**
   * Invokes `operation` for one view at the strongest level that it has: correct, possibly slow.
   */
  invokeStrong<
    T,
    R extends FinalLevels = FinalLevels,
    const _S extends LevelChoice<L> | undefined = undefined,
  >(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableForLevels<T, L, readonly [Strongest<L>], ContractFinalLevels<R, C>>;
  /**
   * Opens a session. Throws `UNSUPPORTED` if the binding cannot keep one, `UNAVAILABLE` after
   * `close`.
   */
  session(this: void, options?: SessionOptions): Session;
  /**
   * Calls `listener` each time that the store can be reached again after it could not. Changes of
   * other clients meanwhile are not pushed: read again what a page shows. Returns a function that
   * ends that. The listener is never called if the binding has no connection.
   *
   * @example
   * store.onReconnect(() => void queryClient.invalidateQueries());
   */
  onReconnect(this: void, listener: () => void): () => void;
  /**
   * Closes the binding, or this client's part of it if several clients share it. Reads in flight
   * fail with `UNAVAILABLE`. So do updates that certainly do not take effect; other updates fail
   * with `UNKNOWN`.
   */
  close(this: void): Promise<void>;
}

/**
 * A client of any store, for portable code. It names levels by position only, through `invokeWeak`
 * and `invokeStrong`.
 *
 * @example
 * const buy = (shop: AnyClient) => shop.invoke(dequeue('tickets')).onUpdate(show).onFinal(confirm);
 */
export interface AnyClient extends AsyncDisposable {
  readonly levels: Levels;
  invoke<T>(
    this: void,
    operation: Operation<T>,
    options?: InvokeOptions,
  ): Correctable<T, Levels, string>;
  invokeWeak<T>(
    this: void,
    operation: Operation<T>,
    options?: InvokeOptions,
  ): Correctable<T, Levels, string>;
  invokeStrong<T>(
    this: void,
    operation: Operation<T>,
    options?: InvokeOptions,
  ): Correctable<T, Levels, string>;
  session(this: void, options?: SessionOptions): Session;
  onReconnect(this: void, listener: () => void): () => void;
  close(this: void): Promise<void>;
}

/**
 * Creates a client of the store behind a binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an option is misspelled, of another type or out of
 * range; `UNSUPPORTED` if the platform has no `AbortController` or `queueMicrotask`
 * @example
 * const store = createClient(memory());
 * await store.invoke(put('greeting', 'hello'));
 * for await (const view of store.invoke(get('greeting'))) console.log(view.level, view.value);
 */
// What `invoke` does is in it and in no other function, since each call would cost all operations.
// oxlint-disable-next-line max-lines-per-function -- see above
export function createClient<const L extends Levels, C extends boolean = boolean>(
  value: Binding<L, C>,
  options: ClientOptions = {},
): Client<L, C> {
  requirePlatform();
  check(
    value?.submitOperation,
    'binding',
    'give one, as createClient(memory()) or deployment.site(name)',
  );
  const binding = value.openHandle?.() ?? value;
  const levels = binding.consistencyLevels();
  const levelOrder = createLevelOrder(levels);
  const weakest = levelOrder.all[0]!;
  const strongest = levelOrder.all.at(-1)!;
  const weak = requestLevels(levelOrder, [weakest]);
  const strong = requestLevels(levelOrder, [strongest]);
  const environment = createClientEnvironment(binding, options);
  const timeoutMs = checkTimeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const isOlder = binding.isOlder?.bind(binding);
  const submitBy = createSubmitters(binding, options);

  function invoke<T>(
    operation: Operation<T>,
    how: RawOptions = {},
    single?: LevelOrder,
  ): CorrectableHandle<T, L, string> {
    const source = new Source<T>(levelOrder, environment, {
      equals: operation?.equals as SourceOptions<T>['equals'],
      isOlder,
      createSubmissionError,
    });
    try {
      check(operation?.name && operation.access, 'operation', "give one, as get('key')");
      source.label = operation;
      if (environment.isClosed) throw createClosedError();
      checkOptions(how, INVOKE_OPTIONS);
      if (!binding.supports(operation))
        throw createUnsupportedError(
          binding,
          'operation',
          `operation "${operation.name}"${formatReason(binding, operation)}`,
        );
      if (single) {
        check(!how.levels, 'levels', 'use invoke');
        source.levelOrder = single;
      } else if (how.levels) source.levelOrder = requestLevels(levelOrder, how.levels);
      if (how.session) {
        source.session = (how.session as InternalSession)[OPEN_SESSION]?.(environment);
        check(source.session, 'session', 'give an open one of this client');
      }
      if (how.idempotencyKey !== undefined)
        setIdempotencyKey(source, how.idempotencyKey, operation.access, binding);
      if (options.trace) source.trace = options.trace();
      addCancelTriggers(source, how.timeoutMs ?? timeoutMs, how.signal);
      if (how.levelTimeoutsMs) limitLevels(source, how.levelTimeoutsMs);
      if (source.state === 'pending') submitBy(how, operation.access)(operation, source);
    } catch (error) {
      source.fail(error);
    }
    return new CorrectableHandle(source);
  }

  async function close(): Promise<void> {
    environment.isClosed = true;
    for (const source of environment.pendingSources ?? []) source.fail(createClosedError());
    await binding.close();
  }

  const client = {
    levels,
    weakest,
    strongest,
    // These are getters that return copies, because state libraries copy or freeze the plain
    // objects that they find.
    get drops() {
      return { ...environment.drops };
    },
    get stats() {
      return { ...environment.stats };
    },
    invoke: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how),
    invokeWeak: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how, weak),
    invokeStrong: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how, strong),
    session: (how?: SessionOptions) => openSession(binding, environment, how),
    onReconnect(listener: () => void) {
      checkFunction(listener, 'listener');
      return binding.onReconnect?.(listener) ?? (() => {});
    },
    close,
    [ASYNC_DISPOSE]: close,
  };
  return client as unknown as Client<L, C>;
}

function createClientEnvironment(binding: Binding, options: ClientOptions) {
  return Object.assign(createEnvironment(checkOptions(options, CLIENT_OPTIONS)), {
    binding,
    drops: {
      weaker: 0,
      older: 0,
      repeated: 0,
      'not-requested': 0,
      'unknown-level': 0,
      closed: 0,
    },
    stats: {
      confirmed: 0,
      corrected: 0,
      earlyConfirmed: 0,
      earlyCorrected: 0,
      speculationsWon: 0,
      speculationsLost: 0,
      retried: 0,
      deduped: 0,
    },
  });
}

/**
 * The key of the method that returns what the binding opened. The value is a function, because
 * state libraries do not change functions when they wrap the session.
 */
const OPEN_SESSION = Symbol('opened');

interface InternalSession extends Session {
  /**
   * Returns the session of the binding. Returns `undefined` after the session was closed, and for
   * another client than that of `environment`.
   */
  [OPEN_SESSION]?(environment: Environment): BindingSession | undefined;
}

/** Creates a session of the application, for one that the binding opens. */
function openSession(binding: Binding, owner: Environment, how: SessionOptions = {}): Session {
  const { tokens } = checkOptions(how, 'tokens:object');
  if (owner.isClosed) throw createClosedError();
  const opened = binding.openSession?.(tokens);
  if (!opened) throw createUnsupportedError(binding, 'session', 'sessions');
  let isOpen = true;
  const close = (): void => {
    if (isOpen) opened.close?.();
    isOpen = false;
  };
  const session: InternalSession = {
    get tokens() {
      return (isOpen && opened.tokens) || [];
    },
    close,
    [DISPOSE]: close,
    [OPEN_SESSION]: (environment) => (isOpen && environment === owner ? opened : undefined),
  };
  return session;
}

/** The policies that one call chooses for its operation. */
interface PolicyChoice {
  readonly retry?: Policy | false | undefined;
  readonly dedupeReads?: unknown;
}

const createClosedError = (): CorrectableError =>
  new CorrectableError('UNAVAILABLE', 'The client is closed', {
    retryable: false,
  });

const createUnsupportedError = (
  { name }: Binding,
  field: string,
  description: string,
): CorrectableError =>
  new CorrectableError('UNSUPPORTED', `The ${name} binding has no ${description}`, { field });

/** Returns why a binding does not support an operation, if the binding gives a reason. */
function formatReason(binding: Binding, operation: Operation): string {
  const reason = binding.describeUnsupported?.(operation);
  return reason ? `: ${reason}` : '';
}

/** Creates the ways to submit to a binding. Each operation uses the one of its policies. */
function createSubmitters(
  binding: Binding,
  { retry: retryAll, dedupeReads: shareAll }: ClientOptions,
): (choice: PolicyChoice, access: Operation['access']) => SubmitFunction {
  const alone: SubmitFunction = (operation, source) => {
    if (operation.access === 'write') source.effectState = WRITE;
    closeAfter(
      source,
      binding.submitOperation(operation, source.levelOrder.requested, source, source) as unknown,
    );
  };
  // Callers that share a read share its attempts. Otherwise each caller would retry it at another
  // time.
  const retried = applyPolicy('retry', retryAll, alone);
  const shared = applyPolicy('dedupeReads', shareAll, retried);
  return ({ retry, dedupeReads }, access) => {
    check(!dedupeReads, 'dedupeReads', 'give false, or a policy to createClient');
    const own = retry === undefined ? retried : applyPolicy('retry', retry, alone);
    // The policy that shares reads has to see every update.
    const isUpdate = access === 'write';
    if (own === retried) return isUpdate || dedupeReads !== false ? shared : own;
    return isUpdate ? applyPolicy('dedupeReads', shareAll, own) : own;
  };
}

/** Returns `submit` wrapped by `policy`, if there is one. */
function applyPolicy(
  field: string,
  policy: Policy | false | undefined,
  submit: SubmitFunction,
): SubmitFunction {
  if (!policy) return submit;
  check(typeof policy === 'function', field, 'give one of correctables/policies');
  return policy(submit);
}

/** A key has no control characters and no halves of surrogate pairs. */
const IDEMPOTENCY_KEY = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

function setIdempotencyKey<T>(
  source: Source<T>,
  key: string,
  access: Operation['access'],
  binding: Binding,
): void {
  check(IDEMPOTENCY_KEY.test(key), 'idempotencyKey', 'give 1 to 128 printable characters');
  if (access === 'read') return;
  if (!binding.hasIdempotencyKeys) {
    throw createUnsupportedError(
      binding,
      'idempotencyKey',
      'idempotency keys. The write was not sent',
    );
  }
  source.idempotencyKey = key;
}

/** Counts each late level as failed. If the strongest one is late, the operation fails. */
function limitLevels<T>(
  source: Source<T>,
  limitsMs: { readonly [level: string]: number | undefined },
): void {
  const { levelOrder, environment } = source;
  const signals: Record<string, AbortSignal> = (source.levelSignals = {});
  for (const [level, limitMs] of Object.entries(limitsMs)) {
    const rank = checkLevel(levelOrder, level, 'levelTimeoutsMs');
    if (limitMs === undefined || checkTimeout(limitMs, `levelTimeoutsMs.${level}`) === Infinity)
      continue;
    const late = new AbortController();
    signals[level] = late.signal;
    const onTime = (): void => {
      late.abort();
      if (source.latest && getRank(levelOrder, source.latest.level) >= rank) return;
      const error = createAbandonError(source, 'TIMEOUT', `no view at level "${level}" in time`, {
        level,
      });
      source.fail(error, level);
      abortSubmission(source, error);
    };
    const timer = environment.clock.setTimer(onTime, limitMs);
    (getExtras(source).timers ??= []).push(timer);
    addCleanUp(source, () => timer.cancel());
  }
}
