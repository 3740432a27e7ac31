/** Thresholds that keep what they promise (Correctables, OSDI 2016, §4.3), wherever the other sellers stand. */
import { checkRecord } from '../correctable/validate.ts';
import { computeMaxConcurrentWrites, type ConcurrentWriters } from '../correctable/throttle/concurrent-writes.ts';
import type { AnyView } from '../correctable/view.ts';

/** The level of a store's one order. */
const CERTAIN_LEVEL = 'strong';

/**
 * How many items a view of a `dequeue` must show as left (`getRemaining(view)`) for its item to be there in the end: as many
 * as others may take before, unknown to this view. 0 for a final view at level `strong`, and for the view of a store that
 * nobody else takes from; `Infinity` where the store does not say, so that whoever compares with it waits for the final
 * view. A view that is final since nothing stronger was asked for is no better than it was.
 *
 * It is as good as the time that the store expects to need for agreement: likely, not certain.
 *
 * @example
 * const ticket = await shop.invoke(dequeue('concert')).settle({
 *   enough: (view) => view.value !== null && getRemaining(view) >= Math.max(20, getSafeThreshold(view)),
 * });
 */
export function getSafeThreshold(view: Pick<AnyView, 'final' | 'level' | 'meta'>): number {
  checkRecord(view, { call: 'getSafeThreshold(view)', field: 'view' });
  if (view.final && view.level === CERTAIN_LEVEL) return 0;
  const concurrentWriters = view.meta?.['concurrentWriters'];
  return isConcurrentWriters(concurrentWriters) ? computeMaxConcurrentWrites(concurrentWriters) : Infinity;
}

/** It may have come over a wire, from a store of any version. */
function isConcurrentWriters(value: unknown): value is ConcurrentWriters {
  const { commitLatencyMs, throttles } = (value ?? {}) as Partial<ConcurrentWriters>;
  return (
    typeof commitLatencyMs === 'number' &&
    commitLatencyMs >= 0 &&
    Array.isArray(throttles) &&
    throttles.every(isThrottle)
  );
}

function isThrottle(value: unknown): boolean {
  const { maxInFlight, minSlotIntervalMs } = (value ?? {}) as Partial<ConcurrentWriters['throttles'][number]>;
  return typeof maxInFlight === 'number' && maxInFlight >= 0 && typeof minSlotIntervalMs === 'number';
}
