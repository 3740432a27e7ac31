/**
 * Whether an operation belongs to a run that was undone: it must not begin
 * anything new then.
 */
import type { EffectState } from '../side-effects.ts';
import { getExtras, type Source } from '../source.ts';
import { activeRun } from './speculative-run.ts';

/**
 * Marks `source` as one that may write later, in the run whose step is being
 * called. With `UNOBSERVED`, it is known only at its end whether it has
 * written.
 */
export function markFutureWrite<T>(
  source: Source<T>,
  futureEffects: EffectState,
): void {
  Object.assign(getExtras(source), { futureEffects, run: activeRun.run });
}

/**
 * Whether it, or what is made of it, is of a run that was undone (C8): it would
 * be done after its undo.
 */
export function isUndone<T>({ extras, subscribers }: Source<T>): boolean {
  // A whole that has failed listens no more, unless it did so while the run
  // began.
  if (extras?.run?.phase === 'undone') return true;
  return Boolean(
    extras?.isUndone ??
    extras?.error ??
    [...(subscribers ?? [])].some(
      ({ parent }) => parent && isUndone(parent as Source<unknown>),
    ),
  );
}
