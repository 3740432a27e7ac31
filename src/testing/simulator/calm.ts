/** Since when nothing has been in the way of the sites of a run: then they owe answers in time. */
import type { Timeline } from './timeline.ts';

/** What checkers go by that ask how long something takes. */
export class Calm {
  readonly #timeline: Timeline;
  readonly #isInTheWay: () => boolean;
  #disturbedAtMs = 0;

  constructor(timeline: Timeline, isInTheWay: () => boolean) {
    this.#timeline = timeline;
    this.#isInTheWay = isInTheWay;
  }

  /** Until now something was in the way, or is for so long. */
  disturbed(forMs = 0): void {
    this.#disturbedAtMs = Math.max(this.#disturbedAtMs, this.#timeline.nowMs + forMs);
  }

  /** `Infinity` while something is. */
  get sinceMs(): number {
    return this.#isInTheWay() ? Infinity : this.#disturbedAtMs;
  }

  get nowMs(): number {
    return this.#timeline.nowMs;
  }
}
