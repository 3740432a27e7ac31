/**
 * Retries operations that a store could not execute for now and that certainly had no effect
 * (COR-15).
 */
import type { Backoff } from '../correctable/backoff.ts';
import { exponentialBackoff } from '../correctable/backoff.ts';
import { deriveSource } from '../correctable/derived-source.ts';
import { WRITE } from '../correctable/side-effects.ts';
import { check, CorrectableError, getErrorDetails } from '../correctable/errors.ts';
import {
  callback,
  integer,
  objectWith,
  optional,
  readOptions,
  type OptionsOf,
} from '../correctable/options.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Policy, SubmitFunction } from '../correctable/policy.ts';
import { isUndone, markFutureWrite } from '../correctable/speculation/undone-run.ts';
import type { Source } from '../correctable/source.ts';
import { getExtras, addCleanUp } from '../correctable/source.ts';
import { formatLabel } from '../correctable/operation-error.ts';
import { toCanonicalString } from '../values/canonical-string.ts';
import { getPrincipal, submitOrFail, forwardViews } from './forward-views.ts';

/** More attempts would outlive the caller that waits. */
const MAX_ATTEMPTS = 100;

/** Options of `retryPolicy`. */
export interface RetryOptions {
  /** Maximum of attempts of an operation, the first included; from 1 to 100. Default: 3 */
  readonly attempts?: number | undefined;
  /**
   * How long to wait before each further attempt. Default: `exponentialBackoff()`, up to 100 ms
   * before the second one, then twice as much each time, to 5 s at most. If the store specifies
   * `retryAfterMs`, the wait is at least that.
   */
  readonly backoff?: Backoff | undefined;
  /** Returns a number in [0, 1) for the jitter of delays. Default: `Math.random` */
  readonly random?: (() => number) | undefined;
}

const USAGE = { call: 'retryPolicy({ attempts: 3 })' };

export const RETRY_OPTIONS = {
  attempts: optional(integer({ max: MAX_ATTEMPTS }), 3),
  backoff: optional(objectWith(['delayMs'], 'exponentialBackoff()')),
  random: optional(callback),
} satisfies OptionsOf<RetryOptions>;

/** The rules of one client. */
interface RetryRules extends Required<{
  readonly [K in keyof RetryOptions]: NonNullable<RetryOptions[K]>;
}> {
  readonly submit: SubmitFunction;
}

/**
 * Retries an operation that failed with a `retryable` error, never one that may have taken effect.
 * Views of a failed attempt stay delivered. Those of the next follow if their level is stronger.
 * The timeout of the operation covers all attempts: none begins after it. Cancelling the operation
 * or closing the client ends the wait. There is no retry once another principal is signed in, or if
 * the arguments were changed in place meanwhile.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an option is invalid; names the option
 * @example
 * const store = createClient(binding, { retry: retryPolicy({ attempts: 5 }) });
 * await store.invoke(put('k', 1), { retry: false }); // one attempt
 */
export function retryPolicy(options: RetryOptions = {}): Policy {
  const {
    attempts,
    backoff = exponentialBackoff(),
    random = Math.random,
  } = readOptions(options, USAGE, RETRY_OPTIONS);
  return (submit) => {
    const rules: RetryRules = { attempts, backoff, random, submit };
    return (operation, source) => {
      // Between two attempts the operation has had no effect, but another attempt follows.
      if (operation.access === 'write') markFutureWrite(source, WRITE);
      startAttempt(rules, operation, source, 1, toCanonicalString(operation.args));
    };
  };
}

/**
 * The binding gets a new source for each attempt, so that a late view of one attempt does not count
 * for the next.
 */
function startAttempt<T>(
  rules: RetryRules,
  operation: Operation<T>,
  source: Source<T>,
  number: number,
  args: string | undefined,
): void {
  const inner = deriveSource<T, T>(source);
  const { session, trace, levelSignals, idempotencyKey } = source;
  // Errors of an attempt name only the operation. The error of the whole adds the number of the
  // attempt.
  Object.assign(inner, {
    session,
    trace,
    levelSignals,
    idempotencyKey,
    label: operation,
  });
  if (number > 1)
    source.label = {
      name: `${formatLabel(operation)}, ${formatAttempt(number, rules)}`,
    };
  const requester = getPrincipal(source);
  forwardViews(inner, source, (error) => {
    const end = (suffix = ''): void =>
      failWithAttempt(source, error, number > 1 ? `${formatAttempt(number, rules)}: ` : '', suffix);
    // A read of an undone run has no effect, and other callers may wait for it.
    const isOver = (): boolean => operation.access === 'write' && isUndone(source);
    const delayMs = isOver() ? undefined : getRetryDelayMs(error, rules, source, number);
    if (delayMs === undefined) return end();
    scheduleRetry(source, delayMs, () => {
      if (isOver() || !isSamePrincipal(requester, source)) return end();
      // If the caller has changed the arguments since, a retry would be another operation.
      if (args !== toCanonicalString(operation.args)) return end(ARGS_CHANGED_SUFFIX);
      source.environment.count('retried');
      startAttempt(rules, operation, source, number + 1, args);
    });
  });
  submitOrFail(rules.submit, operation, inner);
}

/** Returns whether the principal of `source` is still the one of the first attempt. */
function isSamePrincipal<T>(requester: string | undefined, source: Source<T>): boolean {
  try {
    return getPrincipal(source) === requester;
  } catch (error) {
    source.environment.reportUncaught(error);
    return false;
  }
}

const ARGS_CHANGED_SUFFIX = '; not tried again: its arguments were changed after it was asked';

const formatAttempt = (number: number, { attempts }: RetryRules): string =>
  `attempt ${number} of ${attempts}`;

/** Returns the delay before the next attempt, or `undefined` if there is none. */
function getRetryDelayMs<T>(
  { retryable, retryAfterMs = 0 }: CorrectableError,
  { attempts, backoff, random }: RetryRules,
  { environment, dueAt = Infinity }: Source<T>,
  number: number,
): number | undefined {
  if (!retryable || number === attempts || environment.isClosed) return undefined;
  try {
    const delayMs = backoff.delayMs(number, random);
    if (delayMs === undefined) return undefined;
    check(delayMs >= 0, 'backoff', 'delayMs must give milliseconds or undefined');
    const leastMs = Math.max(delayMs, retryAfterMs);
    return environment.clock.now() + leastMs < dueAt ? leastMs : undefined;
  } catch (error) {
    environment.reportUncaught(error);
    return undefined;
  }
}

/** Calls `again` after the delay, unless the operation closes before. */
function scheduleRetry<T>(source: Source<T>, delayMs: number, again: () => void): void {
  const { clock } = source.environment;
  const waiting = (source.environment.pendingSources ??= new Set());
  const timer = clock.setTimer(() => {
    waiting.delete(source);
    again();
  }, delayMs);
  waiting.add(source);
  const extras = getExtras(source);
  (extras.timers ??= []).push(timer);
  if (extras.isUnref) timer.setRef?.(false);
  addCleanUp(source, () => {
    timer.cancel();
    waiting.delete(source);
  });
}

/**
 * Fails with the error of the last attempt. The errors of single levels from earlier attempts are
 * kept.
 */
function failWithAttempt<T>(
  source: Source<T>,
  error: CorrectableError,
  prefix: string,
  suffix: string,
): void {
  const levelErrors = source.submissionStatus?.levelErrors;
  source.fail(
    prefix || suffix
      ? new CorrectableError(error.code, prefix + error.message + suffix, {
          ...getErrorDetails(error),
          levelErrors,
          cause: error,
        })
      : error,
  );
}
