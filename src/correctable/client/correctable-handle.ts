/**
 * Implements the `Correctable` interface as a thin handle on a source. Only the binding can deliver
 * views to the source.
 */
import type { Listener, ViewCallback } from '../subscribers.ts';
import { attachCallbacks } from '../subscribers.ts';
import type {
  Awaitable,
  Callbacks,
  Correctable,
  CorrectableState,
  SubscribeOptions,
  SettleOptions,
  SpeculationContext,
  Subscription,
  ViewObserver,
  WhenOptions,
} from '../correctable.ts';
import { mapSource } from '../derived-source.ts';
import type { CorrectableError } from '../errors.ts';
import { check, checkFunction, checkOptions } from '../errors.ts';
import { DISPOSE, iterateViews } from '../iterate-views.ts';
import type { Levels } from '../level-types.ts';
import { settleSource } from '../settle.ts';
import type { Source } from '../source.ts';
import { SOURCE } from '../copies/foreign-source.ts';
import { cancelSource, getPromise } from '../source.ts';
import { formatLabel } from '../operation-error.ts';
import type { StepFunction } from '../speculation/speculative-run.ts';
import { Speculation } from '../speculation/speculation.ts';
import { subscribeUntilAborted, getSignal, subscribeObserver } from '../subscribe.ts';
import type { FinalView, PreliminaryView, View } from '../view.ts';

/**
 * RxJS recognizes an observable by a member with this name, or by `Symbol.observable`. Which of
 * them it reads depends on its version, so a Correctable has both (COR-12).
 */
const OBSERVABLE_NAME = '@@observable';
const OBSERVABLE: unique symbol = ((Symbol as { observable?: symbol }).observable ??
  OBSERVABLE_NAME) as never;
/** Node reads this symbol to find out how `console.log` shows an object. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

const CALLBACKS = 'onUpdate:function,onFinal:function,onError:function';

export class CorrectableHandle<T, L extends Levels, F extends string> implements Correctable<
  T,
  L,
  F
> {
  readonly #source: Source<T>;

  constructor(source: Source<T>) {
    this.#source = source;
  }

  get [SOURCE](): Source<T> {
    check(#source in this, 'this', 'keep a Correctable out of proxies');
    return this.#source;
  }

  get state(): CorrectableState {
    return this[SOURCE].state;
  }

  get latest(): View<T, L, F> | undefined {
    return this[SOURCE].latest as View<T, L, F> | undefined;
  }

  // State libraries (Vue, valtio) look for this tag and the next member, and do not wrap an object
  // that has them.
  get [Symbol.toStringTag](): string {
    return 'Correctable';
  }

  get [Symbol.iterator](): undefined {
    return undefined;
  }

  onUpdate(onUpdate: (value: T, view: PreliminaryView<T, L>) => void): this {
    checkFunction(onUpdate, 'onUpdate');
    attachCallbacks(this[SOURCE], onUpdate as ViewCallback<T>);
    return this;
  }

  onFinal(onFinal: (value: T, view: FinalView<T, L, F>) => void): this {
    checkFunction(onFinal, 'onFinal');
    attachCallbacks(this[SOURCE], undefined, onFinal as ViewCallback<T>);
    return this;
  }

  onError(onError: (error: CorrectableError) => void): this {
    checkFunction(onError, 'onError');
    attachCallbacks(this[SOURCE], undefined, undefined, onError);
    return this;
  }

  setCallbacks(callbacks: Callbacks<T, L, F>, options?: SubscribeOptions): this {
    const source = this[SOURCE];
    const listener = checkOptions(callbacks as Listener<T>, CALLBACKS, 'callbacks');
    subscribeUntilAborted(getSignal(options), source, listener);
    return this;
  }

  subscribe(
    observer: ViewObserver<T, L, F> | ((view: View<T, L, F>) => void),
    options?: SubscribeOptions,
  ): Subscription {
    return subscribeObserver(this[SOURCE], observer as ViewObserver<T, Levels, string>, options);
  }

  speculate<U, G extends string = never>(
    run: (
      value: T,
      scope: SpeculationContext<T, L, F>,
    ) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G> {
    checkStepFunctions(run, 'run', abort);
    return new CorrectableHandle(
      new Speculation<T, U>(this[SOURCE], run as StepFunction<T>, abort).result,
    );
  }

  // The interface declares the result type, with an overload for functions that return a promise.
  map(transform: (value: T) => unknown): never {
    checkFunction(transform, 'transform');
    return new CorrectableHandle(
      mapSource(this[SOURCE], transform),
    ) as Correctable<unknown> as never;
  }

  chain<U, G extends string = never>(
    next: (value: T) => U | Awaitable<U> | Correctable<U, Levels, G>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F | G> {
    checkStepFunctions(next, 'next', abort);
    return new CorrectableHandle(
      new Speculation<T, U>(this[SOURCE], (value) => next(value), abort, true).result,
    );
  }

  // The interface declares which views these two methods can return.
  settle(options?: SettleOptions<T, L, F>): Promise<never> {
    return settleSource(
      this[SOURCE],
      options as SettleOptions<T, Levels, string>,
    ) as Promise<never>;
  }

  // A program without types may pass a level that is no string. It counts as an unknown level.
  when(level: unknown, options?: WhenOptions): Promise<never> {
    return settleSource(this[SOURCE], options, String(level)) as Promise<never>;
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return getPromise(this[SOURCE]).then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected) as Promise<T | B>;
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return getPromise(this[SOURCE]).finally(onFinally);
  }

  cancel(reason?: unknown): void {
    // The code that cancels already knows the error, so it counts as observed.
    this[SOURCE].isObserved = true;
    cancelSource(this[SOURCE], reason);
  }

  [DISPOSE](): void {
    this.cancel('disposed');
  }

  [INSPECT](
    depth: number,
    options: object,
    inspect: (value: unknown, options: object) => string,
  ): string {
    const { label, state, latest, extras } = this[SOURCE];
    const oneLine = { ...options, depth, compact: true };
    const seen = latest ? `, ${latest.level}: ${inspect(latest.value, oneLine)}` : '';
    return `Correctable(${formatLabel(label)}) { ${extras?.error?.code ?? state}${seen} }`.replaceAll(
      /\s*\n\s*/g,
      ' ',
    );
  }

  [OBSERVABLE_NAME](): this {
    return this;
  }

  [OBSERVABLE](): this {
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<View<T, L, F>, undefined> {
    return iterateViews(this[SOURCE]) as AsyncIterator<unknown, undefined> as AsyncIterator<
      View<T, L, F>,
      undefined
    >;
  }
}

/** Checks the function that runs on views, and the function that undoes it if there is one. */
function checkStepFunctions(run: unknown, field: string, abort: unknown): void {
  checkFunction(run, field);
  if (abort !== undefined) checkFunction(abort, 'abort');
}
