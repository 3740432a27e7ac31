/** Thresholds that keep what they promise (Correctables, OSDI 2016, §4.3), wherever the other sellers stand. */
import { checkRecord } from '../correctable/given.ts';
import { unseenMax, type Elsewhere } from '../correctable/pace/unseen.ts';
import type { AnyView } from '../correctable/view.ts';

/** The level of a store's one order. */
const CERTAIN = 'strong';

/**
 * How many items a view of a `dequeue` must show as left (`remaining(view)`) for its item to be there in the end: as many
 * as others may take before, unknown to this view. 0 for a final view at level `strong`, and for the view of a store that
 * nobody else takes from; `Infinity` where the store does not say, so that whoever compares with it waits for the final
 * view. A view that is final since nothing stronger was asked for is no better than it was.
 *
 * It is as good as the time that the store expects to need for agreement: likely, not certain.
 *
 * @example
 * const ticket = await shop.invoke(dequeue('concert')).settle({
 *   enough: (view) => view.value !== null && remaining(view) >= Math.max(20, safeThreshold(view)),
 * });
 */
export function safeThreshold(view: Pick<AnyView, 'final' | 'level' | 'meta'>): number {
  checkRecord(view, { call: 'safeThreshold(view)', field: 'view' });
  if (view.final && view.level === CERTAIN) return 0;
  const elsewhere = view.meta?.['elsewhere'];
  return isElsewhere(elsewhere) ? unseenMax(elsewhere) : Infinity;
}

/** It may have come over a wire, from a store of any version. */
function isElsewhere(given: unknown): given is Elsewhere {
  const { withinMs, others } = (given ?? {}) as Partial<Elsewhere>;
  return typeof withinMs === 'number' && withinMs >= 0 && Array.isArray(others) && others.every(isPace);
}

function isPace(given: unknown): boolean {
  const { window, turnMs } = (given ?? {}) as Partial<Elsewhere['others'][number]>;
  return typeof window === 'number' && window >= 0 && typeof turnMs === 'number';
}
