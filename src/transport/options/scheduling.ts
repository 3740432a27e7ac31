/** Time as the transport sees it: a clock, timers, and "after this tick". Injectable for tests. */
import { getElapsedMs, systemClock } from '../../correctable/clock.ts';

/** Where the transport gets its time from. */
export interface Scheduling {
  /** Milliseconds as they pass: never goes back, nor jumps when somebody sets the machine's clock. */
  now(): number;
  /** Milliseconds since the epoch by the machine's clock, as deadlines are; `now` where absent. */
  wallNow?(): number;
  /** Calls `fn` once after `delayMs`, however long that is, never after `Infinity`; the function returned prevents it. */
  setTimer(fn: () => void, delayMs: number): () => void;
  /** Calls `fn` once everything that this tick has started, promise callbacks included, has run. */
  afterTick(fn: () => void): void;
}

/** The platform's time. */
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

/** Some platforms, as React Native, have no `timeOrigin`: what `now` counts from means nothing there. */
function readSystemClock(): number {
  return (globalThis.performance?.timeOrigin ?? 0) + getElapsedMs();
}

function createAfterTick(): (fn: () => void) => void {
  const { setImmediate, MessageChannel } = globalThis as Partial<typeof globalThis>;
  if (setImmediate !== undefined) return (fn) => void setImmediate(fn);
  if (MessageChannel === undefined) return (fn) => void setTimeout(fn, 0);
  // In browsers a nested setTimeout(0) waits for 4 ms; a message does not.
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (fn) => {
    waiting.push(fn);
    port2.postMessage(null);
  };
}
