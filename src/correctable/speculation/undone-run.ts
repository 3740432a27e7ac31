/**
 * Finds out whether an operation belongs to a run that was undone. Such an operation must not begin
 * anything new.
 */
import type { EffectState } from '../side-effects.ts';
import { getExtras, type Source } from '../source.ts';
import { activeRun, UNDONE } from './speculative-run.ts';

/**
 * Marks `source` as one that may write later, in the run whose step is being called. With
 * `UNOBSERVED`, only its end shows whether it has written.
 */
export function markFutureWrite<T>(source: Source<T>, futureEffects: EffectState): void {
  Object.assign(getExtras(source), { futureEffects, run: activeRun.run });
}

/**
 * Returns whether the source, or one that is derived from it, belongs to a run that was undone
 * (COR-8). Otherwise its effects would come after the undo.
 */
export function isUndone<T>({ extras, subscribers }: Source<T>): boolean {
  // After a failure, a source no longer listens to its parts, so its parts count as undone. If it
  // failed while the run began, only `phase` shows that.
  if (extras?.run?.phase === UNDONE) return true;
  return Boolean(
    extras?.isUndone ??
    extras?.error ??
    [...(subscribers ?? [])].some(({ parent }) => parent && isUndone(parent as Source<unknown>)),
  );
}
