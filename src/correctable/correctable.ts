/** The Correctable as consumers see it (Correctables, OSDI 2016, §3 and §4). */
import type { CorrectableError } from './errors.ts';
import type { CommonLevel, Levels } from './level-types.ts';
import type { FinalView, PreliminaryView, View, ViewFrom } from './view.ts';

/** Where a Correctable is: `pending` until it closes, once, as `final` or `error`. */
export type CorrectableState = 'pending' | 'final' | 'error';

/** The three callbacks of the paper, by name. */
export interface Callbacks<T, L extends Levels, F extends string = L[number]> {
  /** A preliminary view. */
  readonly onUpdate?: ((value: T, view: PreliminaryView<T, L>) => void) | undefined;
  /** The final view; nothing follows it. */
  readonly onFinal?: ((value: T, view: FinalView<T, L, F>) => void) | undefined;
  /** The failure; nothing follows it. */
  readonly onError?: ((error: CorrectableError) => void) | undefined;
}

/** Who gets every view, the final included, in order. */
export interface ViewObserver<T, L extends Levels, F extends string = L[number]> {
  next?(view: View<T, L, F>): void;
  error?(error: CorrectableError): void;
  complete?(): void;
}

/** Ends what `subscribe` began. Never cancels the operation. */
export interface Subscription {
  readonly closed: boolean;
  unsubscribe(this: void): void;
}

export interface SubscribeOptions {
  /** Ends the callbacks, not the operation. */
  readonly signal?: AbortSignal | undefined;
}

/** When to take a view before the final one (C9). Without any condition: the final. */
export interface SettleOptions<T, L extends Levels, F extends string = L[number]> {
  /** Takes the first view for which this is true. */
  readonly enough?: ((view: View<T, L, F>) => boolean) | undefined;
  /** Takes the best view so far after this many milliseconds, or the first one where there is none yet. */
  readonly withinMs?: number | undefined;
  /** Takes the last view, its `final` being false, where the final fails: for work offline. */
  readonly orLatest?: boolean | undefined;
  /** What becomes of the operation after an early answer: it goes on (default) or is cancelled. */
  readonly afterEarly?: 'continue' | 'cancel' | undefined;
}

/** Options of `settle` that leave it nothing but the final view. */
export interface FinalOnlyOptions {
  readonly enough?: undefined;
  readonly withinMs?: undefined;
  readonly orLatest?: false | undefined;
  readonly afterEarly?: 'continue' | 'cancel' | undefined;
}

export interface WhenOptions {
  /** Gives up with `LEVEL_NOT_REACHED` after this many milliseconds. */
  readonly withinMs?: number | undefined;
}

/** What a speculative run may use beside its input (C8). */
export interface SpeculationContext<T, L extends Levels, F extends string = L[number]> {
  /** The view that the run works on. */
  readonly view: View<T, L, F>;
  /** Aborted when the input turns out wrong, or nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** Registers what undoes a side effect of the run; run in reverse order when the run is aborted. */
  readonly onAbort: (undo: () => void | PromiseLike<void>) => void;
  /**
   * Registers an effect for when the input is confirmed and the run has resolved; run in order before the final. Where the
   * first fails, the run is undone. Registered after the final, it is run at once; after an undo, never.
   */
  readonly onCommit: (effect: () => void | PromiseLike<void>) => void;
}

/** A promise, and no Correctable: that has a level, which the type of whatever follows it must say. */
export type Awaitable<U> = PromiseLike<U> & { readonly settle?: never };

/** `U` where it may be a promise. `any` of code without types, and `never` of what only throws, fit all, and are none. */
type NonPromiseResult<U> = [U] extends [never]
  ? never
  : 0 extends 1 & U
    ? never
    : [Extract<U, PromiseLike<unknown>>] extends [never]
      ? never
      : U;

/** `R` where the function only throws; otherwise what the compiler then shows. */
type NonPromiseReturn<U, R, Advice extends string> = [U] extends [never] ? R : Advice;

/**
 * The progressively improving result of one operation: a promise generalized to several views. Eager and hot: however
 * many consumers, one operation. `await` gives the final value. What is called wrongly, with a callback that is no function
 * or an option that is misspelt, throws `INVALID_ARGUMENT`, or rejects with it where there is a promise.
 *
 * `T` is the value, `L` the requested levels, `F` the level that the final can have. Covariant in all three, so that code
 * for every store can take a `Correctable<T, Levels, string>`.
 */
export interface Correctable<out T, out L extends Levels = Levels, out F extends string = L[number]>
  extends PromiseLike<T>, AsyncIterable<View<T, L, F>>, Disposable {
  readonly state: CorrectableState;
  /** The last view delivered; after the end, the final one or the last before the failure. */
  readonly latest: View<T, L, F> | undefined;
  /** Calls `callback` on each preliminary view; when attached late, on the latest one and those that follow. */
  onUpdate(callback: (value: T, view: PreliminaryView<T, L>) => void): this;
  /** Calls `callback` on the final view. */
  onFinal(callback: (value: T, view: FinalView<T, L, F>) => void): this;
  /** Calls `callback` on failure. */
  onError(callback: (error: CorrectableError) => void): this;
  /** The paper's form of the three above. */
  setCallbacks(callbacks: Callbacks<T, L, F>, options?: SubscribeOptions): this;
  /** Every view in order, the final included, then `complete`; or `error`. */
  subscribe(
    observer: ViewObserver<T, L, F> | ((view: View<T, L, F>) => void),
    options?: SubscribeOptions,
  ): Subscription;
  /**
   * Runs `run` on each view that differs from the input of the live run, and closes with its result once the final
   * view has confirmed the input. On a wrong input the run is undone and repeated (C8). Where `run` gives a Correctable,
   * the final has the weaker of both levels.
   *
   * @example
   * store.invoke(get('user:7:ads')).speculate((refs) => fetchAds(refs)).onFinal((ads) => deliver(ads));
   */
  speculate<U, G extends string = never>(
    run: (value: T, scope: SpeculationContext<T, L, F>) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G>;
  /**
   * What takes its time is no `transform`: there is nothing to be had of this. In generic code a type may be a promise
   * unseen.
   */
  map<U>(
    transform: (value: T) => NonPromiseResult<U>,
  ): NonPromiseReturn<U, Correctable<never, L, F>, 'map takes no promise: use chain'>;
  /**
   * The same views with `transform` applied to each value. For what takes its time there is `chain`: a step that is under
   * way when its input turns out wrong is one to be undone, and what it does unseen decides what a failure says.
   */
  map<U>(transform: (value: T) => U): Correctable<U, L, F>;
  /**
   * Follows the Correctable, promise or value that `next` makes of each different view, level by level: no view, the
   * final neither, has a stronger level than what it was made of. A promise says nothing of a level: what an `async`
   * function has awaited counts as if it were as strong as the view.
   *
   * `next` runs on preliminary views too, and again where the final differs. So an update that it submits needs `abort`,
   * which undoes it where its input was wrong: without one the chain closes with `UNKNOWN`, for it may have taken effect.
   */
  chain<U, G extends string = never>(
    next: (value: T) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G>;
  /**
   * One view, as early as the conditions allow; the final one where there is none.
   *
   * @example
   * const { value } = await store.invoke(dequeue('tickets')).settle({ enough: (view) => getRemaining(view) > 20 });
   */
  settle(options?: FinalOnlyOptions): Promise<FinalView<T, L, F>>;
  settle(options: SettleOptions<T, L, F>): Promise<View<T, L, F>>;
  /** The first view at `level` or above; fails with `LEVEL_NOT_REACHED` where none comes. */
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
  /** Ends the operation for every consumer. An update that was submitted may take effect all the same. */
  cancel(reason?: unknown): void;
}
