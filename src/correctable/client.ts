/** The application's door to a store (Correctables, OSDI 2016, §3.2): one call, several views. */
import type { Binding, BindingSession } from './binding.ts';
import type { Correctable } from './correctable.ts';
import type { DropCounts, EnvironmentOptions } from './environment.ts';
import { Environment } from './environment.ts';
import { CorrectableError, invalidArgument } from './errors.ts';
import { Handle } from './handle.ts';
import type { Ladder } from './ladder.ts';
import { declareLevels, sameNames } from './ladder.ts';
import type { AtLeast, Levels, Requested, Strongest, Weakest } from './level.ts';
import { cancelOn, limit, requireTimeout } from './make.ts';
import type { Shared } from './invocation.ts';
import { Invocation } from './invocation.ts';
import type { Operation } from './operation.ts';
import { BoundSession } from './session.ts';
import type { Session, SessionOptions } from './session.ts';
import { Source } from './source.ts';

/** The time limit of an operation for which none was given. */
const TIMEOUT_MS_DEFAULT = 30_000;

export interface ClientOptions extends EnvironmentOptions {
  /** How long an operation may take unless it says otherwise; 30 000 unless given, `Infinity` for no limit. */
  readonly timeoutMs?: number;
  /** Called at each invocation: what it returns travels with the operation as its trace context. */
  readonly trace?: () => unknown;
  /**
   * Called at each invocation: what it returns runs the callbacks of that operation, in Node for example
   * `AsyncLocalStorage.snapshot`, so that they see the async context of the invocation.
   */
  readonly captureContext?: () => (callback: () => void) => void;
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
}

/** What `invoke` gives where the levels `S` were requested of a binding with the levels `L`. */
export type CorrectableAt<T, L extends Levels, S extends readonly string[]> = Correctable<
  T,
  Requested<L, S>,
  AtLeast<L, Strongest<Requested<L, S>>>
>;

/** Invokes operations on one store. */
export interface Client<L extends Levels> extends AsyncDisposable {
  /** The levels of the store, weakest first. */
  readonly levels: L;
  readonly weakest: Weakest<L>;
  readonly strongest: Strongest<L>;
  /** How many views and calls of the binding were dropped so far, by reason. */
  readonly drops: DropCounts;
  /**
   * Invokes `operation` and gives one view per level, all levels unless told otherwise. Never throws: what is wrong
   * with the call closes the Correctable with an error, before anything is sent.
   *
   * @example
   * const stock = store.invoke(get('stock:book'));
   * stock.onUpdate((n) => show(n, 'probably')).onFinal((n) => show(n, 'certainly'));
   */
  invoke<T, const S extends readonly [L[number], ...L[number][]]>(
    operation: Operation<T>,
    options: InvokeOptions<L[number]> & { readonly levels: S },
  ): CorrectableAt<T, L, S>;
  invoke<T>(
    operation: Operation<T>,
    options?: InvokeOptions<L[number]> & { readonly levels?: undefined },
  ): Correctable<T, L>;
  /** One view, at the weakest level: fast, possibly stale. */
  invokeWeak<T>(
    operation: Operation<T>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableAt<T, L, readonly [Weakest<L>]>;
  /** One view, at the strongest level: correct, possibly slow. */
  invokeStrong<T>(
    operation: Operation<T>,
    options?: InvokeOptions<L[number]>,
  ): CorrectableAt<T, L, readonly [Strongest<L>]>;
  /** Opens a session. Throws `UNSUPPORTED` where the binding cannot keep one. */
  session(options?: SessionOptions): Session;
  /** Closes the binding; operations under way fail. */
  close(): Promise<void>;
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
  invoke<T>(operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  invokeWeak<T>(operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  invokeStrong<T>(operation: Operation<T>, options?: InvokeOptions): Correctable<T, Levels, string>;
  session(options?: SessionOptions): Session;
  close(): Promise<void>;
}

/**
 * A client of the store behind `binding`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for options out of range.
 * @example
 * const store = createClient(memory());
 * await store.invoke(put('greeting', 'hello'));
 * for await (const view of store.invoke(get('greeting'))) console.log(view.level, view.value);
 */
export function createClient<const L extends Levels>(binding: Binding<L>, options: ClientOptions = {}): Client<L> {
  return new BoundClient(binding, options) as unknown as Client<L>;
}

/** The client with the types of its results erased: `Client` says what they are. */
class BoundClient<L extends Levels> {
  readonly levels: L;
  readonly #binding: Binding<L>;
  readonly #shared: Shared;
  readonly #timeoutMs: number;
  readonly #ladder: Ladder;
  readonly #subsets: Ladder[] = [];
  #closed = false;

  constructor(binding: Binding<L>, options: ClientOptions) {
    this.#binding = binding;
    this.levels = binding.consistencyLevels();
    this.#ladder = declareLevels(this.levels, this);
    this.#timeoutMs = requireTimeout(options.timeoutMs ?? TIMEOUT_MS_DEFAULT);
    this.#shared = {
      environment: new Environment(options),
      isOlder: binding.isOlder?.bind(binding),
      trace: options.trace,
      captureContext: options.captureContext,
    };
  }

  get weakest(): Weakest<L> {
    return this.#ladder.all[0] as Weakest<L>;
  }

  get strongest(): Strongest<L> {
    return this.#ladder.all.at(-1) as Strongest<L>;
  }

  get drops(): DropCounts {
    return this.#shared.environment.drops;
  }

  invoke<T>(
    operation: Operation<T>,
    options?: InvokeOptions & { readonly levels?: readonly string[] },
  ): Handle<T, L, string> {
    return new Handle(this.#begin(operation, options?.levels, options));
  }

  invokeWeak<T>(operation: Operation<T>, options?: InvokeOptions): Handle<T, L, string> {
    return new Handle(this.#begin(operation, [this.weakest], options));
  }

  invokeStrong<T>(operation: Operation<T>, options?: InvokeOptions): Handle<T, L, string> {
    return new Handle(this.#begin(operation, [this.strongest], options));
  }

  session({ tokens }: SessionOptions = {}): Session {
    const open = this.#binding.openSession?.(tokens);
    if (open !== undefined) return new BoundSession(open, this);
    const message = `The ${this.#binding.name} binding keeps no sessions; invoke without one, at its strongest level`;
    throw new CorrectableError('UNSUPPORTED', message, { field: 'session' });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#binding.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin<T>(
    operation: Operation<T>,
    levels: readonly string[] | undefined,
    options: InvokeOptions | undefined,
  ): Source<T> {
    let ladder = this.#ladder;
    let invocation: Invocation<T> | undefined;
    try {
      this.#check(operation);
      if (levels !== undefined) ladder = this.#request(levels);
      const session = options?.session === undefined ? undefined : this.#bindingSession(options.session);
      invocation = new Invocation(this.#shared, ladder, operation, session);
      limit(invocation, options?.timeoutMs ?? this.#timeoutMs);
      if (options !== undefined) guard(invocation, options);
    } catch (error) {
      const refused = invocation ?? new Source<T>(ladder, this.#shared.environment);
      refused.fail(error);
      return refused;
    }
    if (invocation.state === 'updating') invocation.submitTo(this.#binding, operation);
    return invocation;
  }

  #check(operation: Operation): void {
    if (this.#closed)
      throw new CorrectableError('UNAVAILABLE', 'The client is closed; create another', { retryable: false });
    if (typeof operation?.name !== 'string') {
      throw invalidArgument('operation', 'give one made by a builder such as get(key)');
    }
    if (this.#binding.supports(operation)) return;
    const message = `The ${this.#binding.name} binding has no operation "${operation.name}"`;
    throw new CorrectableError('UNSUPPORTED', message, { field: 'operation' });
  }

  #request(levels: readonly string[]): Ladder {
    for (const known of this.#subsets) if (sameNames(known.requested, levels)) return known;
    const ladder = this.#ladder.request(levels);
    if (sameNames(ladder.requested, levels)) this.#subsets.push(ladder);
    return ladder;
  }

  #bindingSession(session: Session): BindingSession {
    if (session instanceof BoundSession && session.owner === this) return session.open();
    throw invalidArgument('session', 'give one made by session() of this client');
  }
}

function guard<T>(invocation: Invocation<T>, options: InvokeOptions): void {
  if (options.signal !== undefined) cancelOn(invocation, options.signal);
  if (options.levelTimeoutsMs !== undefined) invocation.limitLevels(options.levelTimeoutsMs);
}
