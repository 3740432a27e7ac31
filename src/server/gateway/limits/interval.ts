/** Timers of the gateway. They keep no process alive. */
import { systemClock } from '../../../correctable/clock.ts';
import type { PeerClock } from '../../../protocol/peer-deadline.ts';

/** The clock of deadlines for clients. */
export const peerClock: PeerClock = {
  now: () => systemClock.now(),
  setTimer: (fire, delayMs) => {
    const timer = systemClock.setTimer(fire, delayMs);
    timer.hold?.(false);
    return () => timer.cancel();
  },
  afterTick: (fn) => void setImmediate(fn),
};

/** Repeats `act` until it is stopped; never if the time between is `Infinity`. `setTimer` is how it waits. */
export class Interval {
  readonly #act: () => void;
  readonly #everyMs: number;
  readonly #setTimer: PeerClock['setTimer'];
  #cancel: (() => void) | undefined;

  constructor(act: () => void, everyMs: number, setTimer: PeerClock['setTimer'] = peerClock.setTimer) {
    this.#act = act;
    this.#everyMs = everyMs;
    this.#setTimer = setTimer;
    this.#arm();
  }

  stop(): void {
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#everyMs === Infinity) return;
    this.#cancel = this.#setTimer(() => {
      this.#arm();
      this.#act();
    }, this.#everyMs);
  }
}
