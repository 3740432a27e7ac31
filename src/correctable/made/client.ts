/** The application's door to a store (Correctables, OSDI 2016, §3.2): one call, several views. */
import type { Binding, BindingSession } from '../binding.ts';
import type { Correctable } from '../correctable.ts';
import { UPDATE } from '../effects.ts';
import type { Counters, DropCounts, EnvironmentOptions } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { createEnvironment, requirePlatform } from '../environment.ts';
import { check, checkOptions, CorrectableError } from '../errors.ts';
import { Handle } from './handle.ts';
import { ASYNC_DISPOSE, DISPOSE } from '../iterate.ts';
import type { Ladder } from '../ladder.ts';
import { declareLevels, rankOf, request, requireLevel } from '../ladder.ts';
import type { Believed, FinalLevel, Levels, Reach, Requested, Strongest, Weakest } from '../level.ts';
import { guard, requireTimeout } from './make.ts';
import type { Operation } from '../operation.ts';
import type { Policy, Submit } from '../policy.ts';
import type { SourceOptions } from '../source.ts';
import { closeAfter, extrasOf, letGo, onClose, outcome, Source } from '../source.ts';

/** The time limit of an operation for which none was given. */
const TIMEOUT_MS_DEFAULT = 30_000;

export interface ClientOptions extends EnvironmentOptions {
  /** How long an operation may take unless it says otherwise; 30 000 unless given, `Infinity` for no limit. */
  readonly timeoutMs?: number;
  /** Called at each invocation: what it returns travels with the operation as its trace context. */
  readonly trace?: () => unknown;
  /**
   * Tries again what failed, could succeed the next time, and certainly had no effect: `retries({ attempts: 3 })` of
   * `correctables/policies`. Unless given, the first failure is the operation's.
   */
  readonly retry?: Policy | undefined;
  /**
   * Lets a read have the views of an equal one under way: `sharedReads()` of `correctables/policies`. Unless given, each
   * read is submitted, so that what it is told is no older than its call.
   */
  readonly shareReads?: Policy | undefined;
}

export interface InvokeOptions<K extends string = string> {
  /** Cancels the operation when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** How long the operation may take, in milliseconds; `Infinity` for no limit. */
  readonly timeoutMs?: number | undefined;
  /** How long single levels may take, in milliseconds: a weaker level that is late counts as failed. */
  readonly levelTimeoutsMs?: { readonly [level in K]?: number } | undefined;
  /** The session to keep: made by `session()` of the same client. */
  readonly session?: Session | undefined;
  /** Instead of the client's; `false` for one attempt. */
  readonly retry?: Policy | false | undefined;
  /** `false` for a submission of its own, whatever the client does with its reads. */
  readonly shareReads?: false | undefined;
  /**
   * Names the update, for retries from another process or after a reload: the store executes it once for each key, and
   * answers a retry with the first outcome. 1 to 128 characters, none of them control characters. Reads ignore it. Fails
   * with `UNSUPPORTED` if the binding has no keys, and with `INVALID_ARGUMENT` if the key was used for another update.
   */
  readonly idempotencyKey?: string | undefined;
}

/**
 * The application's key to what the binding keeps for it: reads see the session's own writes, and never go back in time,
 * across operations and servers.
 */
export interface Session extends Disposable {
  /**
   * What the session has seen, for `session({ tokens })` of a client at another site of the same deployment. Empty where
   * the binding's sessions cannot move.
   */
  readonly tokens: readonly string[];
  /** Releases the session; operations cannot be invoked in it any more. */
  close(this: void): void;
}

/** How to open a session. */
export interface SessionOptions {
  /** The tokens of a session that is to be continued. Default: a session that has seen nothing yet. */
  readonly tokens?: readonly string[] | undefined;
}

/** What `invoke` gives where the levels `S` were requested of a binding with the levels `L`. */
export type CorrectableAt<T, L extends Levels, S extends readonly string[], R extends Reach = Reach> = Correctable<
  T,
  Requested<L, S>,
  FinalLevel<L, S, R>
>;

const CLIENT_OPTIONS =
  'clock:object,onUncaught:function,onEvent:function,timeoutMs:number,trace:function,retry:function,shareReads:function';

type RawOptions = InvokeOptions & { readonly levels?: readonly string[] };

const INVOKE_OPTIONS =
  'levels:object,signal:object,timeoutMs:number,levelTimeoutsMs:object,session:object,retry:boolean|function,shareReads:boolean,idempotencyKey:string';

/** Invokes operations on one store; `C` as in `Binding`. */
export interface Client<L extends Levels, C extends boolean = boolean> extends AsyncDisposable {
  /** The levels of the store, weakest first. */
  readonly levels: L;
  readonly weakest: Weakest<L>;
  readonly strongest: Strongest<L>;
  /** How many views and calls of the binding were dropped so far, by reason. */
  readonly drops: DropCounts;
  /** What has become of its operations so far. */
  readonly counters: Counters;
  /**
   * Invokes `operation` and gives one view per level, all levels unless told otherwise. Never throws: what is wrong
   * with the call closes the Correctable with an error, before anything is sent.
   *
   * @example
   * const stock = store.invoke(get('stock:book'));
   * stock.onUpdate((n) => show(n, 'probably')).onFinal((n) => show(n, 'certainly'));
   */
  invoke<T, const S extends readonly [L[number], ...L[number][]], R extends Reach = Reach>(
    this: void,
    operation: Operation<T, R>,
    options: InvokeOptions<L[number]> & { readonly levels: S },
  ): CorrectableAt<T, L, S, Believed<R, C>>;
  invoke<T, R extends Reach = Reach>(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]> & { readonly levels?: undefined },
  ): Correctable<T, L, FinalLevel<L, L, Believed<R, C>>>;
  /** One view, at the weakest level: fast, possibly stale. */
  invokeWeak<T, R extends Reach = Reach>(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableAt<T, L, readonly [Weakest<L>], Believed<R, C>>;
  /** One view, at the strongest level that the operation has: correct, possibly slow. */
  invokeStrong<T, R extends Reach = Reach>(
    this: void,
    operation: Operation<T, R>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableAt<T, L, readonly [Strongest<L>], Believed<R, C>>;
  /** Opens a session. Throws `UNSUPPORTED` where the binding cannot keep one, `UNAVAILABLE` after `close`. */
  session(this: void, options?: SessionOptions): Session;
  /**
   * Closes the binding, or, where several clients share it, this client's part of it. Reads under way fail with
   * `UNAVAILABLE`, updates with `UNKNOWN` unless they certainly do not take effect.
   */
  close(this: void): Promise<void>;
}

/**
 * A client of any store: what portable code takes. It names levels by position only, through `invokeWeak` and
 * `invokeStrong`.
 *
 * @example
 * const buy = (shop: AnyClient) => shop.invoke(dequeue('tickets')).onUpdate(show).onFinal(confirm);
 */
export interface AnyClient extends AsyncDisposable {
  readonly levels: Levels;
  invoke<T>(this: void, operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  invokeWeak<T>(this: void, operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  invokeStrong<T>(this: void, operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  session(this: void, options?: SessionOptions): Session;
  close(this: void): Promise<void>;
}

/**
 * A client of the store behind a binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for options that are misspelt, of another kind or out of range; `UNSUPPORTED`
 * if the platform has no `AbortController` or `queueMicrotask`.
 * @example
 * const store = createClient(memory());
 * await store.invoke(put('greeting', 'hello'));
 * for await (const view of store.invoke(get('greeting'))) console.log(view.level, view.value);
 */
export function createClient<const L extends Levels, C extends boolean = boolean>(
  given: Binding<L, C>,
  options: ClientOptions = {},
): Client<L, C> {
  requirePlatform();
  check(given?.submitOperation, 'binding', 'give one, as createClient(memory()) or deployment.site(name)');
  const binding = given.share?.() ?? given;
  const levels = binding.consistencyLevels();
  const ladder = declareLevels(levels);
  const weakest = ladder.all[0]!;
  const strongest = ladder.all.at(-1)!;
  const weak = request(ladder, [weakest]);
  const strong = request(ladder, [strongest]);
  const environment = createEnvironment(checkOptions(options, CLIENT_OPTIONS));
  environment.counters = {
    confirmed: 0,
    corrected: 0,
    earlyConfirmed: 0,
    earlyCorrected: 0,
    speculationsWon: 0,
    speculationsLost: 0,
    retried: 0,
    shared: 0,
  };
  environment.binding = binding;
  const timeoutMsDefault = requireTimeout(options.timeoutMs ?? TIMEOUT_MS_DEFAULT);
  const isOlder = binding.isOlder?.bind(binding);
  const submitBy = waysToSubmit(binding, options);

  function invoke<T>(operation: Operation<T>, how: RawOptions = {}, single?: Ladder): Handle<T, L, string> {
    const equals = operation?.equals as SourceOptions<T>['equals'];
    const source = new Source<T>(ladder, environment, { equals, isOlder });
    try {
      if (environment.isClosed) throw closed();
      check(operation?.name && operation.effect, 'operation', "give one, as get('key')");
      checkOptions(how, INVOKE_OPTIONS);
      if (!binding.supports(operation)) throw unsupported(binding, 'operation', `operation "${operation.name}"`);
      source.subject = operation;
      if (single) {
        check(!how.levels, 'levels', 'use invoke');
        source.ladder = single;
      } else if (how.levels) source.ladder = request(ladder, how.levels);
      if (how.session) {
        source.session = (how.session as OpenSession)[OPENED]?.(environment);
        check(source.session, 'session', 'give an open one of this client');
      }
      if (how.idempotencyKey !== undefined) nameUpdate(source, how.idempotencyKey, operation.effect, binding);
      if (options.trace) source.trace = options.trace();
      guard(source, how.timeoutMs ?? timeoutMsDefault, how.signal);
      if (how.levelTimeoutsMs) limitLevels(source, how.levelTimeoutsMs);
      if (source.state === 'updating') submitBy(how, operation.effect)(operation, source);
    } catch (error) {
      source.fail(error);
    }
    return new Handle(source);
  }

  async function close(): Promise<void> {
    environment.isClosed = true;
    for (const source of environment.waiting ?? []) source.fail(closed());
    await binding.close();
  }

  const client = {
    levels,
    weakest,
    strongest,
    // Getters: state libraries copy the plain objects that they find.
    get drops() {
      return environment.drops;
    },
    get counters() {
      return environment.counters!;
    },
    invoke: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how),
    invokeWeak: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how, weak),
    invokeStrong: <T>(operation: Operation<T>, how?: RawOptions) => invoke(operation, how, strong),
    session(how: SessionOptions = {}): Session {
      const { tokens } = checkOptions(how, 'tokens:object');
      if (environment.isClosed) throw closed();
      const opened = binding.openSession?.(tokens);
      if (!opened) throw unsupported(binding, 'session', 'sessions');
      return bindSession(opened, environment);
    },
    close,
    [ASYNC_DISPOSE]: close,
  };
  return client as unknown as Client<L, C>;
}

/** The key to what the binding opened: a function, which state libraries leave alone when they wrap the session. */
const OPENED = Symbol('opened');

interface OpenSession extends Session {
  /** What the binding opened, for the client of `environment` until the session is closed. */
  [OPENED]?(environment: Environment): BindingSession | undefined;
}

/** The application's key to `opened`. */
function bindSession(opened: BindingSession, owner: Environment): Session {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) opened.close?.();
    isOpen = false;
  };
  const session: OpenSession = {
    get tokens() {
      return (isOpen && opened.tokens) || [];
    },
    close,
    [DISPOSE]: close,
    [OPENED]: (environment) => (isOpen && environment === owner ? opened : undefined),
  };
  return session;
}

/** Which policies hold for one operation, as far as it says. */
interface Choice {
  readonly retry?: Policy | false | undefined;
  readonly shareReads?: unknown;
}

const closed = (): CorrectableError =>
  new CorrectableError('UNAVAILABLE', 'The client is closed', { retryable: false });

const unsupported = ({ name }: Binding, field: string, what: string): CorrectableError =>
  new CorrectableError('UNSUPPORTED', `The ${name} binding has no ${what}`, { field });

/** The ways to submit to a binding, of which each operation takes the one that its policies make. */
function waysToSubmit(
  binding: Binding,
  { retry: retryAll, shareReads: shareAll }: ClientOptions,
): (choice: Choice, effect: Operation['effect']) => Submit {
  const alone: Submit = (operation, source) => {
    if (operation.effect === 'update') source.done = UPDATE;
    closeAfter(source, binding.submitOperation(operation, source.ladder.requested, source, source) as unknown);
  };
  // Those who share a read share its attempts, or each would repeat it at another time.
  const retried = applied('retry', retryAll, alone);
  const shared = applied('shareReads', shareAll, retried);
  return ({ retry, shareReads }, effect) => {
    check(!shareReads, 'shareReads', 'give false, or a policy to createClient');
    const own = retry === undefined ? retried : applied('retry', retry, alone);
    // The policy that shares reads has to see every update.
    const isUpdate = effect === 'update';
    if (own === retried) return isUpdate || shareReads !== false ? shared : own;
    return isUpdate ? applied('shareReads', shareAll, own) : own;
  };
}

/** The way to submit that `policy`, if any, makes of `submit`. */
function applied(field: string, policy: Policy | false | undefined, submit: Submit): Submit {
  if (!policy) return submit;
  check(typeof policy === 'function', field, 'give one of correctables/policies');
  return policy(submit);
}

/** No control characters, and no halves of surrogate pairs. */
const IDEMPOTENCY_KEY = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

function nameUpdate<T>(source: Source<T>, key: string, effect: Operation['effect'], binding: Binding): void {
  check(IDEMPOTENCY_KEY.test(key), 'idempotencyKey', 'give 1 to 128 printable characters');
  if (effect === 'read') return;
  if (!binding.hasIdempotencyKeys) {
    throw unsupported(binding, 'idempotencyKey', 'idempotency keys. The write was not sent');
  }
  source.idempotencyKey = key;
}

/** Counts each level that is late as failed; the strongest one fails the operation. */
function limitLevels<T>(source: Source<T>, limitsMs: { readonly [level: string]: number | undefined }): void {
  const { ladder, environment } = source;
  const signals: Record<string, AbortSignal> = (source.levelSignals = {});
  for (const [level, limitMs] of Object.entries(limitsMs)) {
    const rank = requireLevel(ladder, level, 'levelTimeoutsMs');
    if (limitMs === undefined || requireTimeout(limitMs, `levelTimeoutsMs.${level}`) === Infinity) continue;
    const late = new AbortController();
    signals[level] = late.signal;
    const onTime = (): void => {
      late.abort();
      if (source.latest && rankOf(ladder, source.latest.level) >= rank) return;
      const error = outcome(source, 'TIMEOUT', `no view at level "${level}" in time`, { level });
      source.fail(error, level);
      letGo(source, error);
    };
    const timer = environment.clock.setTimer(onTime, limitMs);
    (extrasOf(source).timers ??= []).push(timer);
    onClose(source, () => timer.cancel());
  }
}
