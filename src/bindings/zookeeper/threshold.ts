/** How small a threshold may be, for planning: views say it themselves, to `safeThreshold`. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkNamed, type NamesOf } from '../../correctable/given.ts';
import { unseenMax } from '../../correctable/pace/unseen.ts';

export interface SellersOptions {
  /** How many bindings take from the queue at the same time, in all processes and at all sites. */
  readonly sellers: number;
  /** Most dequeues that each of them has under way: the binding's `window`. */
  readonly window: number;
  /** How soon each uses a place of its window again: the binding's `turnMs`. */
  readonly turnMs?: number;
  /** How long agreement takes at most where the threshold is to hold, in milliseconds. */
  readonly withinMs?: number;
}

const CALL = 'minimumThreshold({ sellers: 4, window: 5, turnMs: 40, withinMs: 110 })';

const OPTIONS: NamesOf<SellersOptions> = { sellers: true, window: true, turnMs: true, withinMs: true };

/**
 * The smallest threshold at which a preliminary view can be trusted. An estimate of what remains knows the dequeues that
 * the server has executed and those of its own binding that are under way; it cannot know those that others finish or
 * begin until the claim has its place. Their windows bound these only together with how often each is used within that
 * time: without `turnMs` and `withinMs` no threshold will do, and the answer is `Infinity`. A promise made on a view with
 * more items left than this is kept if agreement takes no longer than `withinMs` (docs/spec/thresholds.md).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit
 * @example
 * const threshold = minimumThreshold({ sellers: 4, window: 5, turnMs: 40, withinMs: 110 }); // 60
 */
export function minimumThreshold(options: SellersOptions): number {
  checkNamed(options, { call: CALL }, OPTIONS);
  for (const [field, value] of Object.entries(options) as [string, unknown][]) {
    const isNumber = typeof value === 'number' && value >= 0;
    check(value === undefined || isNumber, field, `must be a number from 0 on, not ${String(value)}`);
  }
  const { sellers, window, turnMs = 0, withinMs = Infinity } = options;
  check(sellers !== undefined && window !== undefined, 'sellers', `is needed, and window: write ${CALL}`);
  return Math.max(0, sellers - 1) === 0 ? 0 : (sellers - 1) * unseenMax({ withinMs, others: [{ window, turnMs }] });
}

/**
 * Refuses a threshold that dequeues elsewhere could break.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that says what would do
 */
export function requireThreshold(threshold: number, sellers: SellersOptions): void {
  const isNumber = typeof threshold === 'number';
  check(isNumber, 'threshold', 'must be a number: write requireThreshold(60, { sellers: 4, window: 5 })');
  const least = minimumThreshold(sellers);
  if (threshold >= least) return;
  const why = `${sellers.sellers - 1} other sellers may take more before the view is final`;
  const fix = least < Infinity ? `give at least ${least}` : 'say how fast they are: turnMs, withinMs';
  throw new CorrectableError('INVALID_ARGUMENT', `threshold: ${threshold} is too small: ${why}; ${fix}`, {
    field: 'threshold',
  });
}
