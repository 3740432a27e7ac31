/** The Correctable as consumers see it (Correctables, OSDI 2016, §3 and §4). */
import type { CorrectableError } from './errors.ts';
import type { CommonLevel, Levels } from './level-types.ts';
import type { FinalView, PreliminaryView, View, ViewFrom } from './view.ts';

/** State of a Correctable: `pending` until it closes, once, as `final` or `error`. */
export type CorrectableState = 'pending' | 'final' | 'error';

/** The three callbacks of the paper, by name. */
export interface Callbacks<T, L extends Levels, F extends string = L[number]> {
  /** Receives each preliminary view. */
  readonly onUpdate?: ((value: T, view: PreliminaryView<T, L>) => void) | undefined;
  /** Receives the final view; nothing follows it. */
  readonly onFinal?: ((value: T, view: FinalView<T, L, F>) => void) | undefined;
  /** Receives the failure; nothing follows it. */
  readonly onError?: ((error: CorrectableError) => void) | undefined;
}

/** Receives every view in order, the final included. */
export interface ViewObserver<T, L extends Levels, F extends string = L[number]> {
  next?(view: View<T, L, F>): void;
  error?(error: CorrectableError): void;
  complete?(): void;
}

/** Ends a subscription. Never cancels the operation. */
export interface Subscription {
  readonly closed: boolean;
  unsubscribe(this: void): void;
}

/** Options of `subscribe` and `setCallbacks`. */
export interface SubscribeOptions {
  /** Ends the callbacks when it aborts, not the operation. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Options of `settle`: when to take a view before the final one (COR-9). Default: the final view
 */
export interface SettleOptions<T, L extends Levels, F extends string = L[number]> {
  /** Takes the first view for which this returns true. */
  readonly enough?: ((view: View<T, L, F>) => boolean) | undefined;
  /**
   * Takes the best view so far after this many milliseconds. If there is none yet, takes the first
   * one.
   */
  readonly withinMs?: number | undefined;
  /**
   * Takes the last view, with `final: false`, if the final fails: for offline work. Default:
   * `false`
   */
  readonly orLatest?: boolean | undefined;
  /** Keeps or cancels the operation after an early view. Default: `continue` */
  readonly afterEarly?: 'continue' | 'cancel' | undefined;
}

/** Options of `settle` that leave it only the final view. */
export interface FinalOnlyOptions {
  readonly enough?: undefined;
  readonly withinMs?: undefined;
  readonly orLatest?: false | undefined;
  readonly afterEarly?: 'continue' | 'cancel' | undefined;
}

/** Options of `when`. */
export interface WhenOptions {
  /** Rejects with `LEVEL_NOT_REACHED` after this many milliseconds. */
  readonly withinMs?: number | undefined;
}

/** Context of a speculative run, beside its input (COR-8). */
export interface SpeculationContext<T, L extends Levels, F extends string = L[number]> {
  /** The view that the run works on. */
  readonly view: View<T, L, F>;
  /** Aborts when the input turns out wrong, or no consumer wants the result any more. */
  readonly signal: AbortSignal;
  /**
   * Registers a function that undoes a side effect. If the run is aborted, these run in reverse
   * order.
   */
  readonly onAbort: (undo: () => void | PromiseLike<void>) => void;
  /**
   * Registers an effect for when the input is confirmed and the run has resolved. Effects run in
   * order before the final. If the first fails, the run is undone. After the final, an effect runs
   * at once; after an undo, never.
   */
  readonly onCommit: (effect: () => void | PromiseLike<void>) => void;
}

/**
 * A promise that is no Correctable: a Correctable has a level, which the type of its follower must
 * name.
 */
export type Awaitable<U> = PromiseLike<U> & { readonly settle?: never };

/**
 * `U` if it may be a promise. The types `any`, of code without types, and `never`, of a function
 * that only throws, match every type, so they are excluded.
 */
type NonPromiseResult<U> = [U] extends [never]
  ? never
  : 0 extends 1 & U
    ? never
    : [Extract<U, PromiseLike<unknown>>] extends [never]
      ? never
      : U;

/** `R` if the function only throws. Otherwise the type whose name the compiler shows as advice. */
type NonPromiseReturn<U, R, Advice extends string> = [U] extends [never] ? R : Advice;

/**
 * Holds the progressively improving result of one operation: a promise generalized to several
 * views. Eager and hot: one operation, however many consumers. `await` gives the final value. A
 * wrong call, such as a callback that is no function or a misspelled option, throws
 * `INVALID_ARGUMENT`. A method that returns a promise rejects with it.
 *
 * `T` is the value, `L` the requested levels, `F` the level that the final can have. Covariant in
 * all three, so that code for every store can take a `Correctable<T, Levels, string>`.
 */
export interface Correctable<out T, out L extends Levels = Levels, out F extends string = L[number]>
  extends PromiseLike<T>, AsyncIterable<View<T, L, F>>, Disposable {
  readonly state: CorrectableState;
  /** The last view delivered. After the end: the final one, or the last before the failure. */
  readonly latest: View<T, L, F> | undefined;
  /**
   * Calls `callback` on each preliminary view. If you attach it late, it starts with the latest
   * one.
   */
  onUpdate(callback: (value: T, view: PreliminaryView<T, L>) => void): this;
  /** Calls `callback` on the final view. */
  onFinal(callback: (value: T, view: FinalView<T, L, F>) => void): this;
  /** Calls `callback` on failure. */
  onError(callback: (error: CorrectableError) => void): this;
  /** Attaches the three callbacks above in one call, as in the paper. */
  setCallbacks(callbacks: Callbacks<T, L, F>, options?: SubscribeOptions): this;
  /** Delivers every view in order, the final included, then `complete`; or `error`. */
  subscribe(
    observer: ViewObserver<T, L, F> | ((view: View<T, L, F>) => void),
    options?: SubscribeOptions,
  ): Subscription;
  /**
   * Runs `run` on each view that differs from the input of the live run. Closes with its result
   * once the final view has confirmed the input. If the input was wrong, the run is undone and
   * repeated (COR-8). If `run` returns a Correctable, the final has the weaker of both levels.
   *
   * @example
   * store
   *   .invoke(get('user:7:ads'))
   *   .speculate((refs) => fetchAds(refs))
   *   .onFinal((ads) => deliver(ads));
   */
  speculate<U, G extends string = never>(
    run: (
      value: T,
      scope: SpeculationContext<T, L, F>,
    ) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G>;
  /**
   * Fails to compile if `transform` returns a promise: use `chain`. In generic code the type may
   * hide the promise.
   */
  map<U>(
    transform: (value: T) => NonPromiseResult<U>,
  ): NonPromiseReturn<U, Correctable<never, L, F>, 'map takes no promise: use chain'>;
  /**
   * Returns the same views with `transform` applied to each value. For asynchronous steps use
   * `chain`: it undoes a step whose input was wrong, and its errors account for what the step may
   * have done.
   */
  map<U>(transform: (value: T) => U): Correctable<U, L, F>;
  /**
   * Follows the Correctable, promise or value that `next` returns for each different view, level by
   * level. No view, the final included, has a stronger level than its source. A promise has no
   * level: a value that an `async` function has awaited counts as if it were as strong as the view.
   *
   * `next` runs on preliminary views too, and again if the final differs. So if it submits an
   * update, pass `abort` to undo it after a wrong input. Without `abort`, the chain closes with
   * `UNKNOWN`: the update may have taken effect.
   */
  chain<U, G extends string = never>(
    next: (value: T) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G>;
  /**
   * Returns one view, as early as the conditions allow. Without a condition, returns the final one.
   *
   * @example
   * const { value } = await store
   *   .invoke(dequeue('tickets'))
   *   .settle({ enough: (view) => getRemaining(view) > 20 });
   */
  settle(options?: FinalOnlyOptions): Promise<FinalView<T, L, F>>;
  settle(options: SettleOptions<T, L, F>): Promise<View<T, L, F>>;
  /**
   * Returns the first view at `level` or stronger. Rejects with `LEVEL_NOT_REACHED` if none
   * arrives.
   */
  when<Q extends Levels, G extends string, K extends CommonLevel<Q>>(
    this: Correctable<T, Q, G>,
    level: K,
    options?: WhenOptions,
  ): Promise<ViewFrom<T, Q, G, K>>;
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B>;
  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B>;
  finally(onFinally?: (() => void) | null): Promise<T>;
  /** Ends the operation for every consumer. A submitted update may still take effect. */
  cancel(reason?: unknown): void;
}
