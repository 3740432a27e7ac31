/**
 * The listeners of one operation: all get deliveries in one order, whatever
 * callbacks do meanwhile (C4).
 */
import type { Timer } from './clock.ts';
import type { DeadlineList } from './deadline-list.ts';
import type { Environment } from './environment.ts';
import type { CorrectableError } from './errors.ts';
import { activeRun } from './speculation/speculative-run.ts';
import type { AnyView } from './view.ts';

/**
 * Is delivered in place of a view if the operation has failed; the error is
 * among the extras.
 */
export const FAILURE = null;

type Delivery<T> = AnyView<T> | typeof FAILURE;

export type ViewCallback<T> = (value: T, view: AnyView<T>) => void;
export type ErrorCallback = (error: CorrectableError) => void;

/** The three callbacks of the paper. */
export interface Listener<T> {
  onUpdate?: ViewCallback<T> | undefined;
  onFinal?: ViewCallback<T> | undefined;
  onError?: ErrorCallback | undefined;
}

/**
 * A listener's place in the audience; its callbacks are gone once it has left.
 */
export interface Subscriber<T> extends Listener<T> {
  /** How many deliveries were before it came: it gets the later ones only. */
  readonly joinedAfter: number;
  /**
   * If it came late, the latest view then, or the failure: it gets that first,
   * and not inside the call that attaches it.
   */
  missedDelivery: Delivery<T> | undefined;
  /** The Correctable that listens, where it is one. */
  readonly parent: Parent | undefined;
}

/** A listener with listeners of its own. */
interface Parent {
  readonly extras: SubscriberExtras | undefined;
}

/** What few operations need, so that the others do not pay for it. */
export interface SubscriberExtras {
  error?: CorrectableError;
  /** Deliveries that arose inside a delivery. */
  queue?: Delivery<unknown>[];
  /** No listener waits for later views (C9), until one is attached again. */
  isUnref?: boolean | undefined;
  /** Those of the limits of single levels. */
  timers?: Timer[];
  /** What it is made of. All are audiences. */
  parts?: object[] | undefined;
  /** What it was for is undone (C8): what of it can still be left undone is. */
  isUndone?: true;
  /**
   * For a write that may begin later: the run whose step invoked it, if one
   * did.
   */
  run?: { readonly phase: string } | undefined;
}

/**
 * One operation, as its listeners see it. It is its own first listener: most
 * operations have at most one callback of each kind, and need no list.
 */
export interface SubscriberList<T> extends Listener<T> {
  readonly environment: Environment;
  readonly state: 'pending' | 'final' | 'error';
  readonly latest: AnyView<T> | undefined;
  extras: SubscriberExtras | undefined;
  /** Whether a failure is observed (C5). */
  isObserved: boolean;
  /** Views and failures so far, delivered or queued for delivery. */
  deliveryCount: number;
  /** The later listeners, in order. */
  subscribers: Set<Subscriber<T>> | undefined;
  isDelivering: boolean;
  /** Where its deadline is guarded. */
  deadlines: Pick<DeadlineList, 'setRef'> | undefined;
}

/** Adds callbacks for as long as the operation lasts. */
export function attachCallbacks<T>(
  subscribers: SubscriberList<T>,
  onUpdate: ViewCallback<T> | undefined,
  onFinal?: ViewCallback<T>,
  onError?: ErrorCallback,
): void {
  if (onError) subscribers.isObserved = true;
  const isTaken =
    (onUpdate && subscribers.onUpdate) ||
    (onFinal && subscribers.onFinal) ||
    (onError && subscribers.onError);
  if (isTaken || subscribers.deliveryCount > 0 || subscribers.subscribers)
    addSubscriber(subscribers, { onUpdate, onFinal, onError });
  else {
    subscribers.onUpdate ??= onUpdate;
    subscribers.onFinal ??= onFinal;
    subscribers.onError ??= onError;
  }
}

/**
 * Delivers to `listener` the latest view, not inside this call, and then later
 * ones; after the end, the outcome.
 */
export function addSubscriber<T>(
  subscribers: SubscriberList<T>,
  { onUpdate, onFinal, onError }: Listener<T>,
  parent?: Parent,
): Subscriber<T> {
  const { state, latest, deliveryCount } = subscribers;
  const missedDelivery =
    deliveryCount === 0 ? undefined : state === 'error' ? FAILURE : latest;
  const subscriber: Subscriber<T> = {
    onUpdate,
    onFinal,
    onError,
    joinedAfter: deliveryCount,
    missedDelivery,
    parent,
  };
  if (subscribers.extras?.isUnref) setTimersRef(subscribers, true);
  if (deliveryCount)
    queueMicrotask(() => deliverMissed(subscribers, subscriber));
  // After the end nothing follows.
  if (state === 'pending')
    (subscribers.subscribers ??= new Set()).add(subscriber);
  return subscriber;
}

/**
 * Ends what `listen` began, at once: what the seat has missed is not delivered
 * either.
 */
export function removeSubscriber<T>(
  subscribers: SubscriberList<T>,
  subscriber: Subscriber<T>,
): void {
  subscriber.onUpdate = subscriber.onFinal = subscriber.onError = undefined;
  subscribers.subscribers?.delete(subscriber);
}

/** Whether anybody listens, of those in seats at least one that `counts`. */
export function hasSubscribers<T>(
  subscribers: SubscriberList<T>,
  counts: (subscriber: Subscriber<T>) => boolean = () => true,
): boolean {
  return Boolean(
    subscribers.onUpdate ??
    subscribers.onFinal ??
    subscribers.onError ??
    [...(subscribers.subscribers ?? [])].some(counts),
  );
}

/**
 * If no listener waits for later views after one was taken early (C9), time
 * limits still pass but keep no process alive, until a listener is attached
 * again. The same applies to the sources of the operation.
 */
export function unrefTimers<T>(subscribers: SubscriberList<T>): void {
  if (!hasSubscribers(subscribers, ({ parent }) => !parent?.extras?.isUnref))
    setTimersRef(subscribers, false);
}

function setTimersRef<T>(
  subscribers: SubscriberList<T>,
  isHeld: boolean,
): void {
  const extras = (subscribers.extras ??= {});
  if (subscribers.state !== 'pending' || !extras.isUnref === isHeld) return;
  extras.isUnref = !isHeld;
  subscribers.deadlines?.setRef(isHeld);
  for (const timer of extras.timers ?? []) timer.setRef?.(isHeld);
  for (const part of (extras.parts ?? []) as SubscriberList<unknown>[]) {
    if (isHeld) setTimersRef(part, true);
    else unrefTimers(part);
  }
}

/**
 * Delivers every view to `onView`, also the final one. `onError` handles the
 * failure.
 */
export function subscribeToViews<T>(
  subscribers: SubscriberList<T>,
  onView: ViewCallback<T>,
  onError: ErrorCallback,
  of?: Parent,
): Subscriber<T> {
  subscribers.isObserved = true;
  return addSubscriber(
    subscribers,
    { onUpdate: onView, onFinal: onView, onError },
    of,
  );
}

/** Delivers the view, or the failure, to all listeners. */
export function deliverView<T>(
  subscribers: SubscriberList<T>,
  view: Delivery<T>,
): void {
  subscribers.deliveryCount++;
  if (subscribers.isDelivering)
    ((subscribers.extras ??= {}).queue ??= []).push(view);
  else {
    const outer = activeRun.run;
    activeRun.run = undefined;
    subscribers.isDelivering = true;
    let next = view;
    for (
      let number = subscribers.deliveryCount;
      number <= subscribers.deliveryCount;
      number++
    ) {
      callListener(subscribers, subscribers, next);
      // Listeners that came during this delivery get the later ones only.
      for (const subscriber of subscribers.subscribers ?? []) {
        if (subscriber.joinedAfter >= number) continue;
        deliverMissed(subscribers, subscriber);
        callListener(subscribers, subscriber, next);
      }
      next = subscribers.extras?.queue?.shift() as Delivery<T>;
    }
    subscribers.isDelivering = false;
    activeRun.run = outer;
    if (subscribers.state !== 'pending') {
      subscribers.subscribers =
        subscribers.onUpdate =
        subscribers.onFinal =
        subscribers.onError =
          undefined;
    }
  }
}

function deliverMissed<T>(
  subscribers: SubscriberList<T>,
  subscriber: Subscriber<T>,
): void {
  const { missedDelivery } = subscriber;
  subscriber.missedDelivery = undefined;
  if (missedDelivery !== undefined)
    callListener(subscribers, subscriber, missedDelivery);
}

function callListener<T>(
  subscribers: SubscriberList<T>,
  listener: Listener<T>,
  view: Delivery<T>,
): void {
  const { onUpdate, onFinal, onError } = listener;
  try {
    if (!view) onError?.(subscribers.extras!.error!);
    else if (view.final) onFinal?.(view.value, view);
    else onUpdate?.(view.value, view);
  } catch (error) {
    subscribers.environment.reportUncaught(error);
  }
}
