/** The object behind the `Correctable` interface: a thin handle on a source, which only the binding can feed. */
import type {
  Callbacks,
  Correctable,
  CorrectableState,
  LeaveOptions,
  SettleOptions,
  Speculation,
  Subscription,
  ViewObserver,
  WhenOptions,
} from './correctable.ts';
import type { CorrectableError } from './errors.ts';
import { iterate } from './iterate.ts';
import type { Levels } from './level.ts';
import type { ViewCallback } from './listener.ts';
import { callbackListener } from './listener.ts';
import { map } from './map.ts';
import { settle, when } from './settle.ts';
import type { Source } from './source.ts';
import { SOURCE } from './source-of.ts';
import type { RawScope } from './speculate.ts';
import { speculate } from './speculate.ts';
import { joinUntil, subscribe } from './subscribe.ts';
import type { AnyView, FinalView, PreliminaryView, View } from './view.ts';

/** Old engines lack the symbol; `using` down-levelled by compilers finds this one. */
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose);
const OBSERVABLE: symbol | undefined = (Symbol as { observable?: symbol }).observable;

export class Handle<T, L extends Levels, F extends string> implements Correctable<T, L, F> {
  readonly [SOURCE]: Source<T>;

  constructor(source: Source<T>) {
    this[SOURCE] = source;
  }

  get state(): CorrectableState {
    return this[SOURCE].state;
  }

  get latest(): View<T, L, F> | undefined {
    return this[SOURCE].latest as View<T, L, F> | undefined;
  }

  get [Symbol.toStringTag](): string {
    return 'Correctable';
  }

  onUpdate(callback: (value: T, view: PreliminaryView<T, L>) => void): this {
    this[SOURCE].addOnUpdate(callback as ViewCallback<T>);
    return this;
  }

  onFinal(callback: (value: T, view: FinalView<T, L, F>) => void): this {
    this[SOURCE].addOnFinal(callback as ViewCallback<T>);
    return this;
  }

  onError(callback: (error: CorrectableError) => void): this {
    this[SOURCE].addOnError(callback);
    return this;
  }

  setCallbacks(callbacks: Callbacks<T, L, F>, options?: LeaveOptions): this {
    const { onUpdate, onFinal, onError } = callbacks;
    if (options?.signal === undefined) {
      if (onUpdate !== undefined) this.onUpdate(onUpdate);
      if (onFinal !== undefined) this.onFinal(onFinal);
      if (onError !== undefined) this.onError(onError);
    } else {
      if (onError !== undefined) this[SOURCE].observed = true;
      const listener = callbackListener(onUpdate as ViewCallback<T>, onFinal as ViewCallback<T>, onError);
      joinUntil(this[SOURCE], listener, options.signal);
    }
    return this;
  }

  subscribe(observer: ViewObserver<T, L, F> | ((view: View<T, L, F>) => void), options?: LeaveOptions): Subscription {
    return subscribe(this[SOURCE], observer as ViewObserver<T, Levels, string>, options?.signal);
  }

  speculate<U>(
    run: (value: T, scope: Speculation<T, L, F>) => U | PromiseLike<U> | Correctable<U, L, string>,
    abort?: (input: T, result: U | undefined) => void | PromiseLike<void>,
  ): Correctable<U, L, F> {
    return new Handle(speculate<T, U>(this[SOURCE], run as (value: T, scope: RawScope<T>) => unknown, { abort }));
  }

  map<U>(transform: (value: T) => U): Correctable<U, L, F> {
    return new Handle(map(this[SOURCE], transform));
  }

  chain<U>(next: (value: T) => U | PromiseLike<U> | Correctable<U, L, string>): Correctable<U, L, F> {
    return new Handle(speculate<T, U>(this[SOURCE], (value) => next(value), { passErrors: true }));
  }

  settle(options?: SettleOptions<T, L, F>): Promise<View<T, L, F>> {
    const settled = settle<T>(this[SOURCE], (options ?? {}) as SettleOptions<T, Levels, string>);
    return settled as Promise<View<T, L, F>>;
  }

  when<K extends L[number]>(level: K, options?: WhenOptions): Promise<View<T, L, F>> {
    return when<T>(this[SOURCE], level, options) as Promise<View<T, L, F>>;
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this[SOURCE].promise().then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this[SOURCE].promise().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this[SOURCE].promise().finally(onFinally);
  }

  cancel(reason?: unknown): void {
    // Who cancels knows of the error.
    this[SOURCE].observed = true;
    this[SOURCE].cancel(reason);
  }

  [DISPOSE](): void {
    this.cancel('disposed');
  }

  [Symbol.asyncIterator](): AsyncIterator<View<T, L, F>, undefined> {
    return iterate(this[SOURCE]) as AsyncIterator<AnyView<T>, undefined> as AsyncIterator<View<T, L, F>, undefined>;
  }
}

/** RxJS takes a Correctable for an observable of views by either key, whichever it knows (C12). */
for (const key of OBSERVABLE === undefined ? ['@@observable'] : ['@@observable', OBSERVABLE]) {
  Object.defineProperty(Handle.prototype, key, {
    configurable: true,
    value(this: unknown): unknown {
      return this;
    },
  });
}
