/** Trying again what the store could not do now, and certainly did not do (C15). */
import type { Backoff } from '../correctable/backoff.ts';
import { exponentialBackoff } from '../correctable/backoff.ts';
import { derive } from '../correctable/derive.ts';
import { UPDATE } from '../correctable/effects.ts';
import { check, CorrectableError, detailsOf } from '../correctable/errors.ts';
import { checkKinds, checkNamed, hasMethods, type NamesOf } from '../correctable/given.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Policy, Submit } from '../correctable/policy.ts';
import { present } from '../correctable/run.ts';
import type { Source } from '../correctable/source.ts';
import { extrasOf, nameOf, onClose } from '../correctable/source.ts';
import { writeOut } from '../values/text.ts';
import { askerOf, begin, passOn } from './pass-on.ts';

/** More would outlive whoever waits. */
const ATTEMPTS_MAX = 100;

/** How often, and when, to try again. */
export interface RetryOptions {
  /** How often an operation is tried in all, the first attempt included; from 1 to 100. Default 3. */
  readonly attempts?: number | undefined;
  /**
   * How long to wait before each further attempt. Default: `exponentialBackoff()`, up to 100 ms before the second one and
   * twice as much before each that follows. A store that says how long to wait (`retryAfterMs`) is given that at least.
   */
  readonly backoff?: Backoff | undefined;
  /** A number in [0, 1), for delays that differ. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

const USAGE = { call: 'retries({ attempts: 3 })' };

const OPTIONS: NamesOf<RetryOptions> = { attempts: true, backoff: true, random: true };

/** Of one client. */
interface Rules extends Required<{ readonly [K in keyof RetryOptions]: NonNullable<RetryOptions[K]> }> {
  readonly submit: Submit;
}

/**
 * Tries an operation again that failed with what is `retryable`: what may have taken effect never is. Views of an attempt
 * that failed stay told; those of the next follow where their level is stronger. The time limit of the operation holds for all
 * attempts together: one that would begin after it is not waited for. Cancelling ends the wait, and so does closing the
 * client; what one principal has submitted is not tried again once another is signed in, nor an operation whose arguments
 * were changed in place meanwhile.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const store = createClient(binding, { retry: retries({ attempts: 5 }) });
 * await store.invoke(put('k', 1), { retry: false }); // one attempt
 */
export function retries(options: RetryOptions = {}): Policy {
  checkNamed(options, USAGE, OPTIONS);
  const { attempts = 3, backoff = exponentialBackoff(), random = Math.random } = options;
  const isCount = Number.isInteger(attempts) && attempts > 0 && attempts <= ATTEMPTS_MAX;
  check(isCount, 'attempts', `give a whole number from 1 to ${ATTEMPTS_MAX}`);
  check(hasMethods(backoff, 'delayMs'), 'backoff', 'give one, as exponentialBackoff()');
  checkKinds(options, 'function', 'random');
  return (submit) => {
    const rules: Rules = { attempts, backoff, random, submit };
    return (operation, source) => {
      // Between two attempts nothing was done, and another one comes all the same.
      if (operation.effect === 'update') Object.assign(extrasOf(source), { steps: UPDATE, run: present.run });
      attempt(rules, operation, source, 1, writeOut(operation.args));
    };
  };
}

/** The binding gets a source of its own for each attempt, so that what comes late of one is nothing of the next. */
function attempt<T>(
  rules: Rules,
  operation: Operation<T>,
  source: Source<T>,
  number: number,
  args: string | undefined,
): void {
  const inner = derive<T, T>(source);
  const { session, trace, levelSignals, idempotencyKey } = source;
  // Its errors name the operation alone: which attempt it was is said of the whole.
  Object.assign(inner, { session, trace, levelSignals, idempotencyKey, subject: operation });
  if (number > 1) source.subject = { name: `${nameOf(operation)}, ${attemptOf(number, rules)}` };
  const asker = askerOf(source);
  passOn(inner, source, (error) => {
    const end = (suffix = ''): void => fail(source, error, number > 1 ? `${attemptOf(number, rules)}: ` : '', suffix);
    // A read of an undone run harms nobody, and others may wait for it.
    const isOver = (): boolean => operation.effect === 'update' && isUndone(source);
    const delayMs = isOver() ? undefined : delayAfter(error, rules, source, number);
    if (delayMs === undefined) return end();
    wait(source, delayMs, () => {
      if (isOver() || !isAskedBy(asker, source)) return end();
      // What its caller has made of them since is another operation.
      if (args !== writeOut(operation.args)) return end(CHANGED);
      source.environment.count('retried');
      attempt(rules, operation, source, number + 1, args);
    });
  });
  begin(rules.submit, operation, inner);
}

/** Whether that of `asker` is not about to be submitted for another. */
function isAskedBy<T>(asker: string | undefined, source: Source<T>): boolean {
  try {
    return askerOf(source) === asker;
  } catch (error) {
    source.environment.uncaught(error);
    return false;
  }
}

const CHANGED = '; not tried again: its arguments were changed after it was asked';

const attemptOf = (number: number, { attempts }: Rules): string => `attempt ${number} of ${attempts}`;

/** Whether it, or what is made of it, is of a run that was undone (C8): it would be done after its undo. */
function isUndone<T>({ extras, seats }: Source<T>): boolean {
  // A whole that has failed listens no more, unless it did so while the run began.
  if (extras?.run?.phase === 'undone') return true;
  return Boolean(
    extras?.undone ?? extras?.error ?? [...(seats ?? [])].some(({ of }) => of && isUndone(of as Source<unknown>)),
  );
}

/** How long to wait before the next attempt; `undefined` where there is to be none. */
function delayAfter<T>(
  { retryable, retryAfterMs = 0 }: CorrectableError,
  { attempts, backoff, random }: Rules,
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
    environment.uncaught(error);
    return undefined;
  }
}

/** Calls `again` after the wait, unless the operation closes before. */
function wait<T>(source: Source<T>, delayMs: number, again: () => void): void {
  const { clock } = source.environment;
  const waiting = (source.environment.waiting ??= new Set());
  const timer = clock.setTimer(() => {
    waiting.delete(source);
    again();
  }, delayMs);
  waiting.add(source);
  const extras = extrasOf(source);
  (extras.timers ??= []).push(timer);
  if (extras.isRelaxed) timer.hold?.(false);
  onClose(source, () => {
    timer.cancel();
    waiting.delete(source);
  });
}

/** Fails with what the last attempt failed with; what was known of single levels before stays known. */
function fail<T>(source: Source<T>, error: CorrectableError, prefix: string, suffix: string): void {
  const levelErrors = source.whereabouts?.levelErrors;
  source.fail(
    prefix || suffix
      ? new CorrectableError(error.code, prefix + error.message + suffix, {
          ...detailsOf(error),
          levelErrors,
          cause: error,
        })
      : error,
  );
}
