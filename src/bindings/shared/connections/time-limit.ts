/** Limits how long something may take, by time in which the process has run. */
import { systemClock, type Clock } from '../../../correctable/clock.ts';

/**
 * Calls `onTime` after `delayMs`, unless it is stopped before. The time passes in two halves: after
 * a process was stopped or busy for long, its timers fire before it reads what has arrived
 * meanwhile. The second half gives it the time to read that.
 *
 * @returns what stops it
 */
export function startTimer(clock: Clock, delayMs: number, onTime: () => void): () => void {
  const half = Math.ceil(delayMs / 2);
  let timer = clock.setTimer(() => {
    timer = clock.setTimer(onTime, delayMs - half);
  }, half);
  return () => timer.cancel();
}

/**
 * Returns the result of `pending`, or rejects with the error of `createError` if there is none in
 * time. A late result is ignored.
 */
export function limitTime<T>(
  pending: Promise<T>,
  limitMs: number,
  createError: () => Error,
  clock: Clock = systemClock,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = startTimer(clock, limitMs, () => reject(createError()));
    void pending.then(resolve, reject).finally(stop);
  });
}
