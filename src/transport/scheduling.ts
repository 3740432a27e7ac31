/** Time as the transport sees it: a clock, timers, and "after this tick". Injectable for tests. */

/** Where the transport gets its time from. */
export interface Scheduling {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `delayMs`; the function returned prevents it. */
  setTimer(fn: () => void, delayMs: number): () => void;
  /** Calls `fn` once everything that this tick has started, promise callbacks included, has run. */
  afterTick(fn: () => void): void;
}

/** The platform's time. */
export function platformScheduling(): Scheduling {
  return {
    now: () => Date.now(),
    setTimer(fn, delayMs) {
      const timer = setTimeout(fn, delayMs);
      return () => clearTimeout(timer);
    },
    afterTick: platformAfterTick(),
  };
}

function platformAfterTick(): (fn: () => void) => void {
  const { setImmediate } = globalThis as { setImmediate?: (fn: () => void) => unknown };
  if (setImmediate !== undefined) return (fn) => void setImmediate(fn);
  // In browsers a nested setTimeout(0) waits for 4 ms; a message does not.
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (fn) => {
    waiting.push(fn);
    port2.postMessage(null);
  };
}
