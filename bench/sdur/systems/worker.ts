/** A server's processor: it does one thing after the other, and each takes a time. */
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';

export class Worker {
  busyMs = 0;
  readonly #timeline: Timeline;
  #freeAtMs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Calls `run` once everything before it is done, and `takesMs` of work more. */
  add(takesMs: number, run: () => void): void {
    const { nowMs } = this.#timeline;
    this.busyMs += takesMs;
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + takesMs;
    this.#timeline.schedule(this.#freeAtMs - nowMs, run);
  }
}
