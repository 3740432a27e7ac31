/** Sources made from other sources: they observe these and inherit the duty to report a failure (C5). */
import type { ErrorCallback, ViewCallback } from './audience.ts';
import { hasAudience, leave, listenToAll, relax } from './audience.ts';
import { addPart } from './effects.ts';
import { cancel, failByPart, failWith, ofWhole, onClose, Source } from './source.ts';

/** A source for what becomes of the views of another. It may repeat a level, and has the same name and deadline. */
export function derive<T, U>(source: Source<T>): Source<U> {
  const { isOlder } = source.options;
  const derived = new Source<U>(source.ladder, source.environment, { refining: true, isOlder });
  derived.dueAt = source.dueAt;
  derived.subject = source.subject;
  return derived;
}

/** Feeds `derived` by `onView`, until it closes, then `onClosed`; fails it as `source` fails unless told otherwise. */
export function observe<T, U>(
  source: Source<T>,
  derived: Source<U>,
  onView: ViewCallback<T>,
  onError: ErrorCallback = (error) => failWith(derived, ofWhole(derived, error)),
  onClosed?: () => void,
): void {
  addPart(derived, source);
  const seat = listenToAll(source, onView, onError, derived);
  onClose(derived, () => {
    leave(source, seat);
    const error = derived.extras?.givenUpFor;
    if (error && !hasAudience(source)) cancel(source, error.cause);
    else if (error || source.extras?.takenEarly) relax(source);
    onClosed?.();
  });
}

/** Views with a function applied to each value (C11). */
export function map<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const mapped = derive<T, U>(source);
  let input: T;
  let result: U;
  observe(source, mapped, (value, view) => {
    try {
      // A confirmed value keeps its reference: its result is known.
      if (!mapped.latest || !Object.is(input, value)) result = transform(value);
      input = value;
      mapped.update(result, view.level, view);
    } catch (error) {
      failByPart(mapped, error, view.level);
    }
  });
  return mapped;
}
