/** How small a threshold may be (Correctables, OSDI 2016, §4.3: the last tickets need the final view). */
import { CorrectableError } from '../../correctable/errors.ts';

export interface SellersOptions {
  /** How many bindings take from the queue at the same time, in all processes. */
  readonly sellers: number;
  /** Most dequeues that each of them has under way: the binding's `window`. */
  readonly window: number;
}

/**
 * The smallest threshold at which a preliminary view can be trusted. An estimate of what remains knows the dequeues that
 * the server has executed and those of its own binding that are under way; it cannot know those under way elsewhere, of
 * which there are at most this many. A promise made on a view with more items left than that is always kept.
 *
 * @example
 * const threshold = Math.max(20, minimumThreshold({ sellers: 4, window: 5 })); // 20: 15 would do
 */
export function minimumThreshold({ sellers, window }: SellersOptions): number {
  return Math.max(0, sellers - 1) * window;
}

/**
 * Refuses a threshold that dequeues under way elsewhere could break.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that says what would do
 */
export function requireThreshold(threshold: number, sellers: SellersOptions): void {
  const least = minimumThreshold(sellers);
  if (threshold >= least) return;
  const why = `${sellers.sellers - 1} other sellers may each have ${sellers.window} dequeues under way that no estimate knows`;
  const fix = `give at least ${least}, or a window of at most ${Math.floor(threshold / (sellers.sellers - 1))}`;
  throw new CorrectableError('INVALID_ARGUMENT', `threshold: ${threshold} is too small: ${why}; ${fix}`, {
    field: 'threshold',
  });
}
