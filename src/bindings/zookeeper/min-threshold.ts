/**
 * Computes the smallest safe threshold, for planning. At run time, `getSafeThreshold` reads it from
 * a view.
 */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkOptionNames, type OptionNamesOf } from '../../correctable/validate.ts';
import { computeMaxConcurrentWrites } from '../../correctable/throttle/concurrent-writes.ts';

export interface ConsumersOptions {
  /** How many bindings take from the queue at the same time, in all processes and at all sites. */
  readonly consumers: number;
  /** Maximum number of dequeues that each binding has in flight: its `maxInFlight`. */
  readonly maxInFlight: number;
  /** How soon each binding reuses a slot, in milliseconds: its `minSlotIntervalMs`. Default: 0. */
  readonly minSlotIntervalMs?: number;
  /**
   * How long agreement may take at most for the threshold to hold, in milliseconds. Default:
   * `Infinity`.
   */
  readonly commitLatencyMs?: number;
}

const CALL =
  'computeMinThreshold({ consumers: 4, maxInFlight: 5, minSlotIntervalMs: 40, commitLatencyMs: 110 })';

const OPTIONS: OptionNamesOf<ConsumersOptions> = {
  consumers: true,
  maxInFlight: true,
  minSlotIntervalMs: true,
  commitLatencyMs: true,
};

/**
 * Returns the smallest threshold at which you can trust a preliminary view. An estimate of what
 * remains includes dequeues that the server has executed, and those of its own binding in flight.
 * It cannot include those that other bindings finish or begin until the claim has its place.
 * `maxInFlight` bounds these only together with how often each slot is used in that time. Without
 * `minSlotIntervalMs` and `commitLatencyMs`, the result is therefore `Infinity`, unless there is
 * only one consumer. If a view has more items left than the threshold, a promise made on it holds.
 * This requires that agreement takes no longer than `commitLatencyMs` (docs/spec/thresholds.md).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const threshold = computeMinThreshold({
 *   consumers: 4,
 *   maxInFlight: 5,
 *   minSlotIntervalMs: 40,
 *   commitLatencyMs: 110,
 * }); // 60
 */
export function computeMinThreshold(options: ConsumersOptions): number {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  for (const [field, value] of Object.entries(options) as [string, unknown][]) {
    const isNumber = typeof value === 'number' && value >= 0;
    check(
      value === undefined || isNumber,
      field,
      `must be a number from 0 on, not ${String(value)}`,
    );
  }
  const { consumers, maxInFlight, minSlotIntervalMs = 0, commitLatencyMs = Infinity } = options;
  check(
    consumers !== undefined && maxInFlight !== undefined,
    'consumers',
    `is needed, and maxInFlight: write ${CALL}`,
  );
  if (consumers <= 1) return 0;
  const throttles = [{ maxInFlight, minSlotIntervalMs }];
  return (consumers - 1) * computeMaxConcurrentWrites({ commitLatencyMs, throttles });
}

/**
 * Throws if dequeues of other consumers could break the threshold.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming a sufficient threshold, or the options that
 * are missing for one
 */
export function assertThreshold(threshold: number, consumers: ConsumersOptions): void {
  const isNumber = typeof threshold === 'number';
  check(
    isNumber,
    'threshold',
    'must be a number: write assertThreshold(60, { consumers: 4, maxInFlight: 5 })',
  );
  const least = computeMinThreshold(consumers);
  if (threshold >= least) return;
  const reason = `${consumers.consumers - 1} other consumers may take more before the view is final`;
  const fix =
    least < Infinity
      ? `give at least ${least}`
      : 'say how fast they are: minSlotIntervalMs, commitLatencyMs';
  throw new CorrectableError(
    'INVALID_ARGUMENT',
    `threshold: ${threshold} is too small: ${reason}; ${fix}`,
    {
      field: 'threshold',
    },
  );
}
