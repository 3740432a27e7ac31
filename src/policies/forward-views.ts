/**
 * Submits one operation for several sources: the binding feeds one source, and the others get its
 * views (COR-15).
 */
import type { ErrorCallback } from '../correctable/subscribers.ts';
import {
  hasSubscribers,
  removeSubscriber,
  subscribeToViews,
  unrefTimers,
} from '../correctable/subscribers.ts';
import { addPart } from '../correctable/side-effects.ts';
import type { Operation } from '../correctable/operation.ts';
import type { SubmitFunction } from '../correctable/policy.ts';
import type { Source } from '../correctable/source.ts';
import { failWith, abortSubmission, addCleanUp } from '../correctable/source.ts';

/**
 * Forwards each view of `inner` to `outer` as a binding would, confirmations as confirmations.
 * `onError` handles the failure. When the last receiver has been given up, so is `inner`.
 */
export function forwardViews<T>(inner: Source<T>, outer: Source<T>, onError: ErrorCallback): void {
  let reported: number | undefined;
  let known = 0;
  addPart(outer, inner);
  // The errors of earlier attempts.
  const earlier = outer.submissionStatus?.levelErrors;
  outer.submissionStatus = {
    // True unless the binding knows better.
    get mayHaveBeenSent() {
      return inner.submissionStatus?.mayHaveBeenSent !== false;
    },
    get blockedBy() {
      return inner.extras?.error ?? inner.submissionStatus?.blockedBy;
    },
    get levelErrors() {
      return {
        ...earlier,
        ...inner.submissionStatus?.levelErrors,
        ...inner.extras?.error?.levelErrors,
        ...inner.extras?.levelErrors,
      };
    },
  };
  const subscriber = subscribeToViews(
    inner,
    (value, view) => {
      if (view.seq === reported) outer.confirm(view.level, known, view);
      else known = outer.view(value, view.level, view);
      reported = view.seq;
    },
    onError,
    outer,
  );
  if (outer.extras?.isUnref) unrefTimers(inner);
  addCleanUp(outer, () => {
    removeSubscriber(inner, subscriber);
    const error = outer.extras?.error;
    // The remaining receivers may already have their results.
    if (!error || hasSubscribers(inner)) return unrefTimers(inner);
    if (inner.state !== 'pending') return;
    failWith(inner, error);
    abortSubmission(inner, error);
  });
}

/**
 * Returns the present principal of the client, if its binding has one. Throws what the binding
 * throws.
 */
export function getPrincipal<T>({ environment }: Source<T>): string | undefined {
  return environment.binding?.principal?.();
}

/** Submits the operation of `inner`. If the submission throws, `inner` fails with that error. */
export function submitOrFail<T>(
  submit: SubmitFunction,
  operation: Operation<T>,
  inner: Source<T>,
): void {
  try {
    submit(operation, inner);
  } catch (error) {
    inner.fail(error);
  }
}
