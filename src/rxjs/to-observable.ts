/** Creates an observable of the views of a Correctable. */
import { Observable } from 'rxjs';
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/validate.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { View } from '../correctable/view.ts';

/**
 * Returns an observable of every view of a Correctable, then completion, or its error (a
 * `CorrectableError`). If you subscribe late, you get the latest view first. Unsubscribing never
 * cancels: there may be other consumers.
 *
 * If `source` is a function, each subscription calls it and owns its result. Unsubscribing then
 * cancels it, so `switchMap` cancels the read that it leaves, and `retry` sends a new one.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `source` is neither a Correctable nor a function.
 * If the function returns no Correctable, the observable fails with this error
 * @example
 * text.pipe(
 *   debounceTime(50),
 *   switchMap((query) => toObservable(() => store.invoke(search(query)))),
 * ).subscribe(({ value }) => show(value));
 */
export function toObservable<T, L extends Levels, F extends string = L[number]>(
  source: Correctable<T, L, F> | (() => Correctable<T, L, F>),
): Observable<View<T, L, F>> {
  const isOwner = typeof source === 'function';
  if (!isOwner) checkCorrectable(source);
  return new Observable((subscriber) => {
    const correctable = isOwner ? source() : source;
    if (isOwner) checkCorrectable(correctable);
    const subscription = correctable.subscribe({
      next: (view) => subscriber.next(view),
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => {
      subscription.unsubscribe();
      if (isOwner && correctable.state === 'pending') correctable.cancel();
    };
  });
}

function checkCorrectable(value: unknown): void {
  check(
    hasMethods(value, 'subscribe', 'speculate'),
    'source',
    "give a Correctable, as toObservable(store.invoke(get('news')))",
  );
}
