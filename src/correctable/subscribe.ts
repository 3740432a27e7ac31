/** Callbacks and observers that come and go; leaving never cancels the operation (C4, C10). */
import type { Subscription, ViewObserver } from './correctable.ts';
import type { CorrectableError } from './errors.ts';
import type { Levels } from './level.ts';
import { Listener } from './listener.ts';
import type { Follower } from './signals.ts';
import { follow, unfollow } from './signals.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

/** Joins `listener` until the source closes or `signal` aborts. Returns what ends it earlier. */
export function joinUntil<T>(source: Source<T>, listener: Listener<T>, signal: AbortSignal | undefined): () => void {
  if (signal?.aborted === true) return nothing;
  source.join(listener);
  if (signal === undefined) return () => source.leave(listener);
  const leave = (): void => {
    source.leave(listener);
    unfollow(signal, follower);
  };
  const follower: Follower = { onAbort: leave };
  follow(signal, follower);
  if (source.state === 'updating') source.onClose(() => unfollow(signal, follower));
  // What is told late, after the end, is told a microtask from now.
  else queueMicrotask(() => unfollow(signal, follower));
  return leave;
}

function nothing(): void {}

class ObserverListener<T> extends Listener<T> implements Subscription {
  closed = false;
  #leave: () => void = nothing;
  readonly #observer: ViewObserver<T, Levels, string>;

  constructor(observer: ViewObserver<T, Levels, string>) {
    super();
    this.#observer = observer;
  }

  joinTo(source: Source<T>, signal: AbortSignal | undefined): void {
    this.#leave = joinUntil(source, this, signal);
    this.closed = signal?.aborted === true;
  }

  unsubscribe(): void {
    this.closed = true;
    this.#leave();
  }

  override onView(view: AnyView<T>): void {
    if (!view.final) {
      this.#observer.next?.(view);
      return;
    }
    this.closed = true;
    try {
      this.#observer.next?.(view);
    } finally {
      this.#observer.complete?.();
    }
  }

  override onFailure(error: CorrectableError): void {
    this.closed = true;
    this.#observer.error?.(error);
  }
}

export function subscribe<T>(
  source: Source<T>,
  observer: ViewObserver<T, Levels, string> | ((view: AnyView<T>) => void),
  signal: AbortSignal | undefined,
): Subscription {
  const target = typeof observer === 'function' ? { next: observer } : observer;
  if (target.error !== undefined) source.observed = true;
  const listener = new ObserverListener(target);
  listener.joinTo(source, signal);
  return listener;
}
