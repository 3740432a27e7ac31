/** Submitting for others: a source that the binding feeds, and those who get what it gets (C15). */
import type { ErrorCallback } from '../correctable/audience.ts';
import { hasAudience, leave, listenToAll, relax } from '../correctable/audience.ts';
import { addPart } from '../correctable/effects.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Submit } from '../correctable/policy.ts';
import type { Source } from '../correctable/source.ts';
import { failWith, letGo, onClose } from '../correctable/source.ts';

/**
 * Tells `outer` each view of `inner` as a binding would, confirmations as confirmations; `onError` sees to the failure.
 * When the last of those whom it tells has been given up, so is `inner`.
 */
export function passOn<T>(inner: Source<T>, outer: Source<T>, onError: ErrorCallback): void {
  let told: number | undefined;
  let known = 0;
  addPart(outer, inner);
  // Of attempts before this one.
  const earlier = outer.whereabouts?.levelErrors;
  outer.whereabouts = {
    // Unless the binding says, it may have.
    get mayHaveLeft() {
      return inner.whereabouts?.mayHaveLeft !== false;
    },
    get obstacle() {
      return inner.extras?.error ?? inner.whereabouts?.obstacle;
    },
    get levelErrors() {
      return {
        ...earlier,
        ...inner.whereabouts?.levelErrors,
        ...inner.extras?.error?.levelErrors,
        ...inner.extras?.levelErrors,
      };
    },
  };
  const seat = listenToAll(
    inner,
    (value, view) => {
      if (view.seq === told) outer.confirm(view.level, known, view);
      else known = outer.update(value, view.level, view);
      told = view.seq;
    },
    onError,
    outer,
  );
  if (outer.extras?.isRelaxed) relax(inner);
  onClose(outer, () => {
    leave(inner, seat);
    const error = outer.extras?.error;
    // Those who stay may all have their answer.
    if (!error || hasAudience(inner)) return relax(inner);
    if (inner.state !== 'updating') return;
    failWith(inner, error);
    letGo(inner, error);
  });
}

/** Who the client asks as at present, where its binding says. Throws what the binding throws. */
export function askerOf<T>({ environment }: Source<T>): string | undefined {
  return environment.binding?.principal?.();
}

/** Submits for `inner`; what refuses it fails it. */
export function begin<T>(submit: Submit, operation: Operation<T>, inner: Source<T>): void {
  try {
    submit(operation, inner);
  } catch (error) {
    inner.fail(error);
  }
}
