/**
 * Who hears of the views of one operation: deliveries in one order for everybody, whatever callbacks do meanwhile (C4).
 */
import type { Timer } from './clock.ts';
import type { DeadlineList } from './deadlines.ts';
import type { Environment } from './environment.ts';
import type { CorrectableError } from './errors.ts';
import { present } from './run.ts';
import type { AnyView } from './view.ts';

/** Is delivered in place of a view if the operation has failed; the error is among the extras. */
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

/** A listener's place in the audience; its callbacks are gone once it has left. */
export interface Seat<T> extends Listener<T> {
  /** How many deliveries were before it came: it gets the later ones only. */
  readonly joinedAt: number;
  /** If it came late, the latest view then, or the failure: it gets that first, and not inside the call that attaches it. */
  missed: Delivery<T> | undefined;
  /** The Correctable that listens, where it is one. */
  readonly of: Whole | undefined;
}

/** Who listens for an audience of its own. */
interface Whole {
  readonly extras: AudienceExtras | undefined;
}

/** What few operations need, so that the others do not pay for it. */
export interface AudienceExtras {
  error?: CorrectableError;
  /** Deliveries that arose inside a delivery. */
  queue?: Delivery<unknown>[];
  /** Nobody waits for the rest (C9), until somebody listens again. */
  isRelaxed?: boolean | undefined;
  /** Those of the limits of single levels. */
  timers?: Timer[];
  /** What it is made of. All are audiences. */
  parts?: object[] | undefined;
  /** What it was for is undone (C8): what of it can still be left undone is. */
  undone?: true;
  /** Of an update that may be tried again: the run whose step invoked it, if one did. */
  run?: { readonly phase: string } | undefined;
}

/**
 * One operation, as its audience sees it. It is its own first listener: most operations have no more than one callback
 * of each kind, and need no list.
 */
export interface Audience<T> extends Listener<T> {
  readonly environment: Environment;
  readonly state: 'updating' | 'final' | 'error';
  readonly latest: AnyView<T> | undefined;
  extras: AudienceExtras | undefined;
  /** Whether somebody sees a failure (C5). */
  observed: boolean;
  /** Views and failures so far, delivered or queued for delivery. */
  accepted: number;
  /** The later listeners, in order. */
  seats: Set<Seat<T>> | undefined;
  isDelivering: boolean;
  /** Where its deadline is guarded. */
  deadlines: Pick<DeadlineList, 'hold'> | undefined;
}

/** Adds callbacks for as long as the operation lasts. */
export function attach<T>(
  audience: Audience<T>,
  onUpdate: ViewCallback<T> | undefined,
  onFinal?: ViewCallback<T>,
  onError?: ErrorCallback,
): void {
  if (onError) audience.observed = true;
  const isTaken = (onUpdate && audience.onUpdate) || (onFinal && audience.onFinal) || (onError && audience.onError);
  if (isTaken || audience.accepted > 0 || audience.seats) listen(audience, { onUpdate, onFinal, onError });
  else {
    audience.onUpdate ??= onUpdate;
    audience.onFinal ??= onFinal;
    audience.onError ??= onError;
  }
}

/**
 * Tells `listener` the latest view, not inside this call, and then what follows; after the end, the outcome.
 */
export function listen<T>(audience: Audience<T>, { onUpdate, onFinal, onError }: Listener<T>, of?: Whole): Seat<T> {
  const { state, latest, accepted } = audience;
  const missed = accepted === 0 ? undefined : state === 'error' ? FAILURE : latest;
  const seat: Seat<T> = { onUpdate, onFinal, onError, joinedAt: accepted, missed, of };
  if (audience.extras?.isRelaxed) hold(audience, true);
  if (accepted) queueMicrotask(() => catchUp(audience, seat));
  // After the end nothing follows.
  if (state === 'updating') (audience.seats ??= new Set()).add(seat);
  return seat;
}

/** Ends what `listen` began, at once: what the seat has missed is not delivered either. */
export function leave<T>(audience: Audience<T>, seat: Seat<T>): void {
  seat.onUpdate = seat.onFinal = seat.onError = undefined;
  audience.seats?.delete(seat);
}

/** Whether anybody listens, of those in seats at least one that `counts`. */
export function hasAudience<T>(audience: Audience<T>, counts: (seat: Seat<T>) => boolean = () => true): boolean {
  return Boolean(audience.onUpdate ?? audience.onFinal ?? audience.onError ?? [...(audience.seats ?? [])].some(counts));
}

/**
 * Where nobody waits any more for what is to come, after a view was taken early (C9), the time limits pass as they would
 * but keep no process alive, until somebody listens again. The same goes for what it is made of.
 */
export function relax<T>(audience: Audience<T>): void {
  if (!hasAudience(audience, ({ of }) => !of?.extras?.isRelaxed)) hold(audience, false);
}

function hold<T>(audience: Audience<T>, isHeld: boolean): void {
  const extras = (audience.extras ??= {});
  if (audience.state !== 'updating' || !extras.isRelaxed === isHeld) return;
  extras.isRelaxed = !isHeld;
  audience.deadlines?.hold(isHeld);
  for (const timer of extras.timers ?? []) timer.hold?.(isHeld);
  for (const part of (extras.parts ?? []) as Audience<unknown>[]) {
    if (isHeld) hold(part, true);
    else relax(part);
  }
}

/** Tells `onView` every view, the final included; `onError` sees to the failure. */
export function listenToAll<T>(
  audience: Audience<T>,
  onView: ViewCallback<T>,
  onError: ErrorCallback,
  of?: Whole,
): Seat<T> {
  audience.observed = true;
  return listen(audience, { onUpdate: onView, onFinal: onView, onError }, of);
}

/** Tells everybody the view, or the failure. */
export function deliver<T>(audience: Audience<T>, view: Delivery<T>): void {
  audience.accepted++;
  if (audience.isDelivering) ((audience.extras ??= {}).queue ??= []).push(view);
  else {
    const outer = present.run;
    present.run = undefined;
    audience.isDelivering = true;
    let next = view;
    for (let number = audience.accepted; number <= audience.accepted; number++) {
      call(audience, audience, next);
      // Listeners that came during this delivery get the later ones only.
      for (const seat of audience.seats ?? []) {
        if (seat.joinedAt >= number) continue;
        catchUp(audience, seat);
        call(audience, seat, next);
      }
      next = audience.extras?.queue?.shift() as Delivery<T>;
    }
    audience.isDelivering = false;
    present.run = outer;
    if (audience.state !== 'updating') {
      audience.seats = audience.onUpdate = audience.onFinal = audience.onError = undefined;
    }
  }
}

function catchUp<T>(audience: Audience<T>, seat: Seat<T>): void {
  const { missed } = seat;
  seat.missed = undefined;
  if (missed !== undefined) call(audience, seat, missed);
}

function call<T>(audience: Audience<T>, listener: Listener<T>, view: Delivery<T>): void {
  const { onUpdate, onFinal, onError } = listener;
  try {
    if (!view) onError?.(audience.extras!.error!);
    else if (view.final) onFinal?.(view.value, view);
    else onUpdate?.(view.value, view);
  } catch (error) {
    audience.environment.uncaught(error);
  }
}
