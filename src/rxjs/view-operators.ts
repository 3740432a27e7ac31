/** A few operators on observables of views. */
import { filter, map, type Observable, type OperatorFunction } from 'rxjs';
import { check } from '../correctable/errors.ts';
import { createLevelOrder, checkLevel } from '../correctable/level-order.ts';
import type { AtLeast, Levels } from '../correctable/level-types.ts';
import type { FinalView, View } from '../correctable/view.ts';

/**
 * Lets only the final view through.
 *
 * @example
 * toObservable(store.invoke(get('balance')))
 *   .pipe(finalOnly())
 *   .subscribe(({ value }) => bill(value));
 */
export function finalOnly<T, L extends Levels, F extends string>(): OperatorFunction<
  View<T, L, F>,
  FinalView<T, L, F>
> {
  return filter((view): view is FinalView<T, L, F> => view.final);
}

/**
 * Lets the views at `level` and stronger through. `levels` are those of the binding,
 * `client.levels`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `levels` is no list of levels; `UNKNOWN_LEVEL` if
 * it lacks `level`
 * @example
 * toObservable(news.invoke(latest()))
 *   .pipe(atLeast(news.levels, 'backup'), values())
 *   .subscribe(refreshDisplay);
 */
export function atLeast<const A extends Levels, K extends A[number]>(
  levels: A,
  level: K,
): <V extends View<unknown, Levels, string>>(
  source: Observable<V>,
) => Observable<V & { readonly level: AtLeast<A, K> }> {
  check(Array.isArray(levels), 'levels', "give a list, as atLeast(store.levels, 'causal')");
  const from = checkLevel(createLevelOrder(levels), level, 'level');
  const strong: ReadonlySet<string> = new Set(levels.slice(from));
  return filter((view): view is never => strong.has(view.level));
}

/**
 * Maps views to their values, without their levels.
 *
 * @example
 * toObservable(news.invoke(latest())).pipe(values()).subscribe((items) => refreshDisplay(items));
 */
export function values<T>(): OperatorFunction<{ readonly value: T }, T> {
  return map((view) => view.value);
}
