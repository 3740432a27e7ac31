/**
 * Sources that are made from other sources. A derived source observes the failures of its sources,
 * and reports a failure in their place (COR-5).
 */
import type { ErrorCallback, ViewCallback } from './subscribers.ts';
import { hasSubscribers, removeSubscriber, subscribeToViews, unrefTimers } from './subscribers.ts';
import { addPart } from './side-effects.ts';
import { cancelSource, failFromPart, failWith, addCleanUp, Source } from './source.ts';
import { toCompositeError } from './operation-error.ts';

/**
 * Creates a source for views that are made from the views of another one. The new source may have
 * several views at one level. It takes over the name and the deadline.
 */
export function deriveSource<T, U>(source: Source<T>): Source<U> {
  const { isOlder } = source.options;
  const derived = new Source<U>(source.levelOrder, source.environment, {
    isRefining: true,
    isOlder,
  });
  derived.dueAt = source.dueAt;
  derived.label = source.label;
  return derived;
}

/**
 * Passes the views to `onView`, until `derived` closes, then calls `onClosed`. Fails `derived` when
 * `source` fails, unless `onError` is passed.
 */
export function observeSource<T, U>(
  source: Source<T>,
  derived: Source<U>,
  onView: ViewCallback<T>,
  onError: ErrorCallback = (error) => failWith(derived, toCompositeError(derived, error)),
  onClosed?: () => void,
): void {
  addPart(derived, source);
  const subscriber = subscribeToViews(source, onView, onError, derived);
  addCleanUp(derived, () => {
    removeSubscriber(source, subscriber);
    const error = derived.extras?.abandonReason;
    if (error && !hasSubscribers(source)) cancelSource(source, error.cause);
    else if (error || source.extras?.earlyViews) unrefTimers(source);
    onClosed?.();
  });
}

/** Returns a source with `transform` applied to each value (COR-11). */
export function mapSource<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const mapped = deriveSource<T, U>(source);
  let input: T;
  let result: U;
  observeSource(source, mapped, (value, view) => {
    try {
      // A confirmed value keeps its reference, so the result is known and `transform` need not run.
      if (!mapped.latest || !Object.is(input, value)) result = transform(value);
      input = value;
      mapped.view(result, view.level, view);
    } catch (error) {
      failFromPart(mapped, error, view.level);
    }
  });
  return mapped;
}
