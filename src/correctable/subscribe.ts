/**
 * Adds and removes callbacks and observers. To unsubscribe never cancels the operation (COR-4,
 * COR-10). An `AbortSignal` gets one listener, however many operations use it, and none once they
 * have closed.
 */
import type { Listener, Subscriber } from './subscribers.ts';
import { removeSubscriber, addSubscriber } from './subscribers.ts';
import type { SubscribeOptions, Subscription, ViewObserver } from './correctable.ts';
import { checkFunction, checkOptions, createInvalidArgumentError } from './errors.ts';
import type { Levels } from './level-types.ts';
import type { Source } from './source.ts';
import { unrefTimersIfTakenEarly } from './source.ts';
import type { AnyView } from './view.ts';

/** Called with the reason when the signal aborts. */
type AbortFollower = (reason: unknown) => void;

/**
 * The followers of a signal and its one listener. The listener is an arrow function, because
 * signals of other libraries call it without `this`.
 */
type FollowerGroup = readonly [followers: Set<AbortFollower>, onAbort: () => void];

const followerGroups = /* @__PURE__ */ new WeakMap<AbortSignal, FollowerGroup>();

/**
 * Returns whether `signal` has aborted. Throws `INVALID_ARGUMENT` if it is no signal, or a proxy of
 * one.
 */
export function isAborted(signal: AbortSignal): boolean {
  try {
    if (typeof signal.addEventListener === 'function') return signal.aborted;
  } catch {
    // A method of the platform's signal throws if it is called on a proxy.
  }
  throw createInvalidArgumentError('signal', 'give an AbortSignal, not a proxy of one');
}

/**
 * Calls `follower` when `signal`, which has not aborted yet, aborts. Returns a function that
 * removes the follower.
 */
export function followSignal(signal: AbortSignal, follower: AbortFollower): () => void {
  let group = followerGroups.get(signal);
  if (!group) {
    const all = new Set<AbortFollower>();
    followerGroups.set(signal, (group = [all, () => all.forEach((item) => item(signal.reason))]));
  }
  const [followers, onAbort] = group;
  if (followers.size === 0) signal.addEventListener('abort', onAbort);
  followers.add(follower);
  return () => {
    if (followers.delete(follower) && followers.size === 0)
      signal.removeEventListener('abort', onAbort);
  };
}

/** Subscribes until `signal` aborts. Nothing stays on the signal. */
export function subscribeUntilAborted<T>(
  signal: AbortSignal | undefined,
  source: Source<T>,
  { onUpdate, onFinal, onError }: Listener<T>,
): Subscription {
  if (onError) source.isObserved = true;
  let closed = signal !== undefined && isAborted(signal);
  let unfollow: (() => void) | undefined;
  let subscriber: Subscriber<T> | undefined;
  const ending = <A extends unknown[]>(callback: ((...args: A) => void) | undefined) => {
    return (...args: A): void => {
      closed = true;
      unfollow?.();
      callback?.(...args);
    };
  };
  const unsubscribe = ending(() => {
    if (subscriber) removeSubscriber(source, subscriber);
    unrefTimersIfTakenEarly(source);
  });
  if (!closed) {
    unfollow = signal && followSignal(signal, unsubscribe);
    subscriber = addSubscriber(source, {
      onUpdate,
      onFinal: ending(onFinal),
      onError: ending(onError),
    });
  }
  return {
    get closed() {
      return closed;
    },
    unsubscribe,
  };
}

export function getSignal(options: SubscribeOptions = {}): AbortSignal | undefined {
  return checkOptions(options, 'signal:object').signal;
}

export function subscribeObserver<T>(
  source: Source<T>,
  observer: ViewObserver<T, Levels, string> | ((view: AnyView<T>) => void),
  options: SubscribeOptions | undefined,
): Subscription {
  const signal = getSignal(options);
  const target: ViewObserver<T, Levels, string> =
    typeof observer === 'function' ? { next: observer } : observer;
  checkFunction(target?.next ?? target?.error ?? target?.complete, 'observer');
  return subscribeUntilAborted(signal, source, {
    onUpdate: (_value, view) => target.next?.(view),
    onFinal(_value, view) {
      try {
        target.next?.(view);
      } finally {
        target.complete?.();
      }
    },
    onError: target.error && ((error) => target.error!(error)),
  });
}
