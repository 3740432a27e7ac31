/** Time as the transport sees it: a clock, timers, and "after this tick". Injectable for tests. */
import { getElapsedMs, systemClock } from '../../correctable/clock.ts';

/** Time source of the transport. */
export interface Scheduling {
  /** Returns elapsed milliseconds. Never goes back, nor jumps when the machine's clock is set. */
  now(): number;
  /**
   * Returns milliseconds since the epoch by the machine's clock, as deadlines are. Default: `now`
   */
  wallNow?(): number;
  /**
   * Calls `fn` once after `delayMs`, of any length; never after `Infinity`. The returned function
   * prevents it.
   */
  setTimer(fn: () => void, delayMs: number): () => void;
  /** Calls `fn` once everything that this tick has started, promise callbacks included, has run. */
  afterTick(fn: () => void): void;
}

export function createPlatformScheduling(): Scheduling {
  return {
    now: readSystemClock,
    wallNow: () => Date.now(),
    setTimer: setPlatformTimer,
    afterTick: createAfterTick(),
  };
}

function setPlatformTimer(fn: () => void, delayMs: number): () => void {
  if (delayMs === Infinity) return () => {};
  const timer = systemClock.setTimer(fn, delayMs);
  return () => timer.cancel();
}

/**
 * Some platforms, such as React Native, have no `timeOrigin`. There the start of `now` has no
 * meaning.
 */
function readSystemClock(): number {
  return (globalThis.performance?.timeOrigin ?? 0) + getElapsedMs();
}

function createAfterTick(): (fn: () => void) => void {
  const { setImmediate, MessageChannel } = globalThis as Partial<typeof globalThis>;
  if (setImmediate !== undefined) return (fn) => void setImmediate(fn);
  // oxlint-disable-next-line no-restricted-globals -- no user passes this delay
  if (MessageChannel === undefined) return (fn) => void setTimeout(fn, 0);
  // Post a message instead of `setTimeout(0)`: browsers delay nested timers by 4 ms.
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (fn) => {
    waiting.push(fn);
    port2.postMessage(null);
  };
}
