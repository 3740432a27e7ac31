/** Creates a Correctable from an observable, whose emissions become views. */
import { map, Observable, takeWhile } from 'rxjs';
import type { Sink, ViewDetails } from '../correctable/binding.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { check, CorrectableError } from '../correctable/errors.ts';
import { checkOptionTypes, checkRecord, hasMethods } from '../correctable/validate.ts';
import type { Levels } from '../correctable/level-types.ts';
import { correctable, type CorrectableOptions } from '../correctable/client/create.ts';

/** The view of one emission. */
export interface EmittedView<T, Level extends string> extends ViewDetails {
  readonly value: T;
  readonly level: Level;
}

/** Options of `fromObservable`, beside `view`. Its levels may always have several views. */
export type FromObservableOptions<T> = Omit<CorrectableOptions<T>, 'isRefining'>;

/** Converts emissions that are not plain values to views. */
export interface ViewOption<T, L extends Levels, E> {
  /** Returns the view of an emission. A view at the strongest level closes the Correctable. */
  readonly view: (emission: E, index: number) => EmittedView<T, L[number]>;
}

/**
 * Creates a Correctable that follows an observable. Subscribes at once; closing and cancelling
 * unsubscribe.
 *
 * Without `view`, each emission is a view at the weakest level, refining the one before, and
 * completion makes the last one final. With `view`, the first view at the strongest level is final.
 * Completion without a final is `CLOSED_WITHOUT_FINAL`. If the observable fails, its error is the
 * `cause`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the levels, the observable or an option are
 * invalid
 * @example
 * const results = fromObservable(['partial', 'complete'], search$);
 * const flights = fromObservable(['cached', 'live'], offers$, {
 *   view: ({ offers, isLive }) => ({ value: offers, level: isLive ? 'live' : 'cached' }),
 * });
 */
export function fromObservable<T, E, const L extends Levels>(
  levels: L,
  observable: Observable<E>,
  options: FromObservableOptions<T> & ViewOption<T, NoInfer<L>, E>,
): Correctable<T, L>;
export function fromObservable<T, const L extends Levels>(
  levels: L,
  observable: Observable<T>,
  options?: FromObservableOptions<T>,
): Correctable<T, L>;
export function fromObservable<T, E, const L extends Levels>(
  levels: L,
  observable: Observable<E>,
  options: FromObservableOptions<T> & Partial<ViewOption<T, L, E>> = {},
): Correctable<T, L> {
  const isObservable = hasMethods(observable, 'subscribe', 'pipe');
  check(
    isObservable,
    'observable',
    "give one of rxjs, as fromObservable(['partial', 'complete'], search$)",
  );
  checkRecord(options, {
    call: "fromObservable(['partial', 'complete'], search$, { timeoutMs: 500 })",
  });
  const { view, ...rest } = options;
  checkOptionTypes(options, 'function', 'view');
  const feed = (sink: Sink<T, L[number]>, signal: AbortSignal): void => {
    const requested = takeUntilAborted(signal, observable);
    if (view === undefined)
      relayRefinements(levels, requested as Observable<unknown> as Observable<T>, sink);
    else relayViews(levels, requested.pipe(map(view)), sink);
  };
  return correctable<T, L>(levels, feed, { ...rest, isRefining: true });
}

/**
 * Returns the emissions of `source` until the signal aborts. It checks from the first one on,
 * because an observable may emit everything, or without end, while it is being subscribed to.
 */
function takeUntilAborted<E>(signal: AbortSignal, observable: Observable<E>): Observable<E> {
  return new Observable((subscriber) => {
    const leave = (): void => subscriber.unsubscribe();
    signal.addEventListener('abort', leave);
    subscriber.add(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    else observable.subscribe(subscriber);
  });
}

/**
 * Delivers emissions of which each refines the one before. The last one is final, because no other
 * can follow.
 */
function relayRefinements<T>(levels: Levels, observable: Observable<T>, sink: Sink<T>): void {
  const strongest = levels[levels.length - 1] as string;
  let last: { readonly value: T } | undefined;
  observable.subscribe({
    next: (value) => {
      last = { value };
      if (levels.length > 1) sink.view(value, levels[0]);
    },
    error: (error: unknown) => sink.fail(error),
    complete: () =>
      last === undefined ? sink.fail(createNoFinalError()) : sink.view(last.value, strongest),
  });
}

/** Delivers emissions that specify their level themselves. */
function relayViews<T>(
  levels: Levels,
  views: Observable<EmittedView<T, string>>,
  sink: Sink<T>,
): void {
  const strongest = levels[levels.length - 1] as string;
  let isFinal = false;
  views.pipe(takeWhile(({ level }) => level !== strongest, true)).subscribe({
    next: ({ value, level, ...details }) => {
      isFinal ||= level === strongest;
      sink.view(value, level, details);
    },
    error: (error: unknown) => sink.fail(error),
    complete: () => {
      if (!isFinal) sink.fail(createNoFinalError());
    },
  });
}

function createNoFinalError(): CorrectableError {
  return new CorrectableError(
    'CLOSED_WITHOUT_FINAL',
    'the observable completed without a final view: emit one at the strongest level, or at least one value',
  );
}
