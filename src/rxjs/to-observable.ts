/** Creates an observable of the views of a Correctable. */
import { Observable } from 'rxjs';
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/validate.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { View } from '../correctable/view.ts';

/**
 * Returns an observable of every view of a Correctable, then completion, or its
 * error (a `CorrectableError`). If you subscribe late, you get the latest view
 * first. Unsubscribing never cancels: there may be other consumers.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no
 * Correctable
 * @example
 * toObservable(store.invoke(get('news')))
 *   .pipe(values(), debounceTime(50))
 *   .subscribe((items) => refreshDisplay(items));
 */
export function toObservable<T, L extends Levels, F extends string = L[number]>(
  correctable: Correctable<T, L, F>,
): Observable<View<T, L, F>> {
  const isCorrectable = hasMethods(correctable, 'subscribe', 'speculate');
  check(
    isCorrectable,
    'correctable',
    "give one, as toObservable(store.invoke(get('news')))",
  );
  return new Observable((subscriber) => {
    const subscription = correctable.subscribe({
      next: (view) => subscriber.next(view),
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => subscription.unsubscribe();
  });
}
