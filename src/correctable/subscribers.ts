/**
 * The listeners of one operation. All get the deliveries in one order, whatever callbacks do
 * meanwhile (COR-4).
 */
import type { Timer } from './clock.ts';
import type { Environment } from './environment.ts';
import type { CorrectableError } from './errors.ts';
import { activeRun } from './speculation/speculative-run.ts';
import type { AnyView } from './view.ts';

/**
 * Delivered in place of a view if the operation has failed. The field `error` of the extras has the
 * error.
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

/** One listener. Its callbacks are removed when it unsubscribes. */
export interface Subscriber<T> extends Listener<T> {
  /**
   * The number of deliveries before the listener was added. The listener gets only later
   * deliveries.
   */
  readonly joinedAfter: number;
  /**
   * The latest view, or the failure, if the listener was added late. The listener gets this
   * delivery first, after the call that adds the listener has returned.
   */
  missedDelivery: Delivery<T> | undefined;
  /** The derived Correctable that listens, if there is one. */
  readonly parent: Parent | undefined;
}

/** A listener that has listeners of its own. */
interface Parent {
  readonly extras: SubscriberExtras | undefined;
}

/**
 * Fields that few operations need. They are apart, so that other operations do not pay for them.
 */
export interface SubscriberExtras {
  error?: CorrectableError;
  /** Deliveries that began inside a delivery. */
  queue?: Delivery<unknown>[];
  /** Set if no listener waits for later views (COR-9), until one is added again. */
  isUnref?: boolean | undefined;
  /** The timers of the timeouts of single levels. */
  timers?: Timer[];
  /** The operations that this one is made of. All are subscriber lists. */
  parts?: object[] | undefined;
  /**
   * Set if the run of this operation is undone (COR-8). Then parts that have not begun yet are
   * never started.
   */
  isUndone?: true;
  /** The run whose step invoked this operation, for a write that may begin later. */
  run?: { readonly phase: number } | undefined;
}

/**
 * One operation, as its listeners see it. It is its own first listener: most operations have at
 * most one callback of each kind, and need no list.
 */
export interface SubscriberList<T> extends Listener<T> {
  readonly environment: Environment;
  readonly state: 'pending' | 'final' | 'error';
  readonly latest: AnyView<T> | undefined;
  extras: SubscriberExtras | undefined;
  /** Whether a failure is observed (COR-5). */
  isObserved: boolean;
  /** Views and failures so far, delivered or queued for delivery. */
  deliveryCount: number;
  /** The other listeners, in the order of their arrival. */
  subscribers: Set<Subscriber<T>> | undefined;
  isDelivering: boolean;
  /** The list that holds the deadline. */
  deadlines: { setRef(isHeld: boolean): void } | undefined;
}

/** Adds callbacks that stay until the operation closes. */
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
  if (isTaken || subscribers.deliveryCount || subscribers.subscribers)
    addSubscriber(subscribers, { onUpdate, onFinal, onError });
  else {
    subscribers.onUpdate ??= onUpdate;
    subscribers.onFinal ??= onFinal;
    subscribers.onError ??= onError;
  }
}

/**
 * Delivers the latest view to `listener`, not inside this call, and then later ones. After the end,
 * delivers the outcome.
 */
export function addSubscriber<T>(
  subscribers: SubscriberList<T>,
  { onUpdate, onFinal, onError }: Listener<T>,
  parent?: Parent,
): Subscriber<T> {
  const { state, latest, deliveryCount } = subscribers;
  const outcomeSoFar = state === 'error' ? FAILURE : latest;
  const missedDelivery = deliveryCount ? outcomeSoFar : undefined;
  const subscriber: Subscriber<T> = {
    onUpdate,
    onFinal,
    onError,
    joinedAfter: deliveryCount,
    missedDelivery,
    parent,
  };
  if (subscribers.extras?.isUnref) setTimersRef(subscribers, true);
  if (deliveryCount) queueMicrotask(() => deliverMissed(subscribers, subscriber));
  // Only an open operation has further deliveries.
  if (state === 'pending') (subscribers.subscribers ??= new Set()).add(subscriber);
  return subscriber;
}

/** Removes a subscriber at once. It does not get a delivery that it has missed either. */
export function removeSubscriber<T>(
  subscribers: SubscriberList<T>,
  subscriber: Subscriber<T>,
): void {
  subscriber.onUpdate = subscriber.onFinal = subscriber.onError = undefined;
  subscribers.subscribers?.delete(subscriber);
}

/**
 * Returns whether there is a listener: a first one, or a subscriber for which `counts` returns
 * true.
 */
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
 * If no listener waits for later views after one was taken early (COR-9), timeouts still expire but
 * keep no process alive, until a listener is attached again. The same applies to the sources of the
 * operation.
 */
export function unrefTimers<T>(subscribers: SubscriberList<T>): void {
  if (!hasSubscribers(subscribers, ({ parent }) => !parent?.extras?.isUnref))
    setTimersRef(subscribers, false);
}

function setTimersRef<T>(subscribers: SubscriberList<T>, isHeld: boolean): void {
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

/** Delivers every view to `onView`, also the final one. `onError` handles the failure. */
export function subscribeToViews<T>(
  subscribers: SubscriberList<T>,
  onView: ViewCallback<T>,
  onError: ErrorCallback,
  of?: Parent,
): Subscriber<T> {
  subscribers.isObserved = true;
  return addSubscriber(subscribers, { onUpdate: onView, onFinal: onView, onError }, of);
}

/** Delivers the view, or the failure, to all listeners. */
export function deliverView<T>(subscribers: SubscriberList<T>, view: Delivery<T>): void {
  subscribers.deliveryCount++;
  if (subscribers.isDelivering) ((subscribers.extras ??= {}).queue ??= []).push(view);
  else {
    const outer = activeRun.run;
    activeRun.run = undefined;
    subscribers.isDelivering = true;
    let next = view;
    for (let number = subscribers.deliveryCount; number <= subscribers.deliveryCount; number++) {
      callListener(subscribers, subscribers, next);
      // Listeners that were added during this delivery get only later ones.
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

function deliverMissed<T>(subscribers: SubscriberList<T>, subscriber: Subscriber<T>): void {
  const { missedDelivery } = subscriber;
  subscriber.missedDelivery = undefined;
  if (missedDelivery !== undefined) callListener(subscribers, subscriber, missedDelivery);
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
