/** How small a threshold may be, for planning: views say it themselves, to `getSafeThreshold`. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkOptionNames, type OptionNamesOf } from '../../correctable/validate.ts';
import { computeMaxConcurrentWrites } from '../../correctable/throttle/concurrent-writes.ts';

export interface ConsumersOptions {
  /** How many bindings take from the queue at the same time, in all processes and at all sites. */
  readonly consumers: number;
  /** Most dequeues that each of them has in flight: the binding's `maxInFlight`. */
  readonly maxInFlight: number;
  /** How soon each uses a slot again: the binding's `minSlotIntervalMs`. */
  readonly minSlotIntervalMs?: number;
  /** How long agreement takes at most where the threshold is to hold, in milliseconds. */
  readonly commitLatencyMs?: number;
}

const CALL = 'computeMinThreshold({ consumers: 4, maxInFlight: 5, minSlotIntervalMs: 40, commitLatencyMs: 110 })';

const OPTIONS: OptionNamesOf<ConsumersOptions> = {
  consumers: true,
  maxInFlight: true,
  minSlotIntervalMs: true,
  commitLatencyMs: true,
};

/**
 * The smallest threshold at which a preliminary view can be trusted. An estimate of what remains knows the dequeues that
 * the server has executed and those of its own binding that are in flight; it cannot know those that others finish or
 * begin until the claim has its place. `maxInFlight` bounds these only together with how often each slot is used within
 * that time: without `minSlotIntervalMs` and `commitLatencyMs` no threshold will do, and the answer is `Infinity`. A
 * promise made on a view with more items left than this is kept if agreement takes no longer than `commitLatencyMs`
 * (docs/spec/thresholds.md).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit
 * @example
 * const threshold = computeMinThreshold({ consumers: 4, maxInFlight: 5, minSlotIntervalMs: 40, commitLatencyMs: 110 }); // 60
 */
export function computeMinThreshold(options: ConsumersOptions): number {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  for (const [field, value] of Object.entries(options) as [string, unknown][]) {
    const isNumber = typeof value === 'number' && value >= 0;
    check(value === undefined || isNumber, field, `must be a number from 0 on, not ${String(value)}`);
  }
  const { consumers, maxInFlight, minSlotIntervalMs = 0, commitLatencyMs = Infinity } = options;
  check(consumers !== undefined && maxInFlight !== undefined, 'consumers', `is needed, and maxInFlight: write ${CALL}`);
  return Math.max(0, consumers - 1) === 0
    ? 0
    : (consumers - 1) *
        computeMaxConcurrentWrites({ commitLatencyMs, throttles: [{ maxInFlight, minSlotIntervalMs }] });
}

/**
 * Refuses a threshold that dequeues elsewhere could break.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that says what would do
 */
export function assertThreshold(threshold: number, consumers: ConsumersOptions): void {
  const isNumber = typeof threshold === 'number';
  check(isNumber, 'threshold', 'must be a number: write assertThreshold(60, { consumers: 4, maxInFlight: 5 })');
  const least = computeMinThreshold(consumers);
  if (threshold >= least) return;
  const reason = `${consumers.consumers - 1} other consumers may take more before the view is final`;
  const fix = least < Infinity ? `give at least ${least}` : 'say how fast they are: minSlotIntervalMs, commitLatencyMs';
  throw new CorrectableError('INVALID_ARGUMENT', `threshold: ${threshold} is too small: ${reason}; ${fix}`, {
    field: 'threshold',
  });
}
