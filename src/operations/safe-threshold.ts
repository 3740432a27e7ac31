/**
 * Computes a threshold above which an early view is safe (Correctables, OSDI 2016, §4.3), whatever
 * the other clients do at their sites.
 */
import { checkRecord } from '../correctable/validate.ts';
import {
  computeMaxConcurrentWrites,
  type ConcurrentWriters,
} from '../correctable/throttle/concurrent-writes.ts';
import type { AnyView } from '../correctable/view.ts';

/** The levels at which all sites agree on one order of updates. */
const CERTAIN_LEVELS: ReadonlySet<string> = new Set(['strong', 'primary']);

/**
 * Returns how many items a view of a `dequeue` must show as left (`getRemaining(view)`) so that its
 * item is in the final too. Other clients may take that many items before this one without this
 * view showing it. Returns 0 for a final view at level `strong` or `primary`, or if no other client
 * takes from the store. Returns `Infinity` if the store does not report it, so code that compares
 * waits for the final. A view that is final only because nothing stronger was requested counts as
 * preliminary.
 *
 * The result is as good as the time that the store expects to need for agreement: likely, not
 * certain.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `view` is no view
 * @example
 * const ticket = await shop
 *   .invoke(dequeue('concert'))
 *   .settle({
 *     enough: (view) =>
 *       view.value !== null &&
 *       getRemaining(view) >= Math.max(20, getSafeThreshold(view)),
 *   });
 */
export function getSafeThreshold(view: Pick<AnyView, 'final' | 'level' | 'meta'>): number {
  checkRecord(view, { call: 'getSafeThreshold(view)', field: 'view' });
  if (view.final && CERTAIN_LEVELS.has(view.level)) return 0;
  const concurrentWriters = view.meta?.['concurrentWriters'];
  return isConcurrentWriters(concurrentWriters)
    ? computeMaxConcurrentWrites(concurrentWriters)
    : Infinity;
}

/** The value may come over a wire, from a store of any version. */
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
  const { maxInFlight, minSlotIntervalMs } = (value ?? {}) as Partial<
    ConcurrentWriters['throttles'][number]
  >;
  return (
    typeof maxInFlight === 'number' && maxInFlight >= 0 && typeof minSlotIntervalMs === 'number'
  );
}
