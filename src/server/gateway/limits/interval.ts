/** Does something again and again; never, where the time between is without end. */
import { systemClock, type Timer } from '../../../correctable/clock.ts';

/** A timer that sets itself anew; it keeps no process alive. */
export class Interval {
  readonly #act: () => void;
  readonly #everyMs: number;
  #timer: Timer | undefined;

  constructor(act: () => void, everyMs: number) {
    this.#act = act;
    this.#everyMs = everyMs;
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    if (this.#everyMs === Infinity) return;
    this.#timer = systemClock.setTimer(() => {
      this.#arm();
      this.#act();
    }, this.#everyMs);
    this.#timer.hold?.(false);
  }
}
