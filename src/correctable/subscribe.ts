/** Callbacks and observers that come and go; leaving never cancels the operation (C4, C10). */
import type { Subscription, ViewObserver } from './correctable.ts';
import type { Levels } from './level.ts';
import type { Listener } from './listener.ts';
import { FunctionListener } from './listener.ts';
import { follow, unfollow } from './signals.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

/** Joins `listener` until the source closes or `signal` aborts. Returns what ends it earlier. */
export function joinUntil<T>(source: Source<T>, listener: Listener<T>, signal: AbortSignal | undefined): () => void {
  const follower = { onAbort: (): void => leave() };
  const leave = (): void => {
    source.leave(listener);
    if (signal !== undefined) unfollow(signal, follower);
  };
  if (signal?.aborted === true) return leave;
  source.join(listener);
  if (signal === undefined) return leave;
  follow(signal, follower);
  if (source.state === 'updating') source.onClose(() => unfollow(signal, follower));
  // What is told late, after the end, is told a microtask from now.
  else queueMicrotask(() => unfollow(signal, follower));
  return leave;
}

export function subscribe<T>(
  source: Source<T>,
  observer: ViewObserver<T, Levels, string> | ((view: AnyView<T>) => void),
  signal: AbortSignal | undefined,
): Subscription {
  const target: ViewObserver<T, Levels, string> = typeof observer === 'function' ? { next: observer } : observer;
  if (target.error !== undefined) source.observed = true;
  let closed = signal?.aborted === true;
  const listener = new FunctionListener<T>(
    (view) => {
      closed = view.final;
      try {
        target.next?.(view);
      } finally {
        if (view.final) target.complete?.();
      }
    },
    (error) => {
      closed = true;
      target.error?.(error);
    },
  );
  const leave = joinUntil(source, listener, signal);
  return {
    get closed() {
      return closed;
    },
    unsubscribe() {
      closed = true;
      leave();
    },
  };
}
