/** Deadlines for the other end of a connection. */

/** The time functions that deadlines need. `Scheduling` of the transport has them. */
export interface PeerClock {
  /** Returns milliseconds that never go back. */
  now(): number;
  /** Calls `fire` once after `delayMs`. The returned function cancels it. */
  setTimer(fire: () => void, delayMs: number): () => void;
  /** Calls `fn` after the events that have already arrived. */
  afterTick(fn: () => void): void;
}

/** A timer that fires later than this share of its delay shows that this process stood still. */
const STALL_RATIO = 0.5;

/**
 * Calls `onExpired` once after `delayMs`. The returned function cancels it.
 *
 * If this process stood still meanwhile (a blocked event loop, a suspended machine), the peer's
 * messages wait unread in the socket, and the timer fires before they are read. So a late timer
 * gives the peer the whole delay once more, and each deadline expires only after the sockets were
 * polled.
 */
export function setPeerDeadline(
  clock: PeerClock,
  onExpired: () => void,
  delayMs: number,
): () => void {
  let isCanceled = false;
  const dueAtMs = clock.now() + delayMs;
  const expire = (): void => {
    clock.afterTick(() => {
      if (!isCanceled) onExpired();
    });
  };
  let cancelTimer = clock.setTimer(() => {
    const isLate = clock.now() - dueAtMs > delayMs * STALL_RATIO;
    if (isLate) cancelTimer = clock.setTimer(expire, delayMs);
    else expire();
  }, delayMs);
  return () => {
    isCanceled = true;
    cancelTimer();
  };
}
