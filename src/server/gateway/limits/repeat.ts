/** Timers of the gateway. They keep no process alive. */
import { systemClock } from '../../../correctable/clock.ts';
import type { PeerClock } from '../../../protocol/peer-deadline.ts';

/** The clock for the deadlines of clients. */
export const peerClock: PeerClock = {
  now: () => systemClock.now(),
  setTimer: (fire, delayMs) => {
    const timer = systemClock.setTimer(fire, delayMs);
    timer.setRef?.(false);
    return () => timer.cancel();
  },
  afterTick: (fn) => void setImmediate(fn),
};

/**
 * Repeats `act` until the returned function is called. Never calls it if the interval is
 * `Infinity`.
 */
export function repeat(
  act: () => void,
  everyMs: number,
  setTimer = peerClock.setTimer,
): () => void {
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = setTimer(() => {
      arm();
      act();
    }, everyMs);
  };
  if (everyMs !== Infinity) arm();
  return () => cancel();
}
