import type { Timeline } from './timeline.ts';

/** The reading of a correct wall clock when a run begins. */
export const EPOCH_MS = Date.UTC(2024);

/**
 * The wall clock of one simulated site. It is off by a constant skew, drifts, and can be set like
 * the clock of a real machine.
 */
export class SimulatedClock {
  readonly #timeline: Timeline;
  readonly #skewMs: number;
  #drift = 0;
  /** The last setting, on top of skew and drift. */
  #setAheadMs = 0;
  /** The largest offset that was noted so far. */
  #maxAheadMs = -Infinity;

  constructor(timeline: Timeline, skewMs: number) {
    this.#timeline = timeline;
    this.#skewMs = skewMs;
  }

  /** The time that the site reads, in whole milliseconds like a real clock. */
  get wallMs(): number {
    return Math.floor(this.#correctWallMs + this.#aheadMs);
  }

  /** The highest reading so far if the clock had never been set back. */
  get highestWallMs(): number {
    return this.#correctWallMs + Math.max(this.#maxAheadMs, this.#aheadMs);
  }

  /** Makes the clock run faster than time by this share of it. */
  setDrift(drift: number): void {
    this.#drift = drift;
  }

  /** Sets the clock ahead by `aheadMs`, on top of its skew and drift. */
  set(aheadMs: number): void {
    this.noteOffset();
    this.#setAheadMs = aheadMs;
    this.noteOffset();
  }

  /**
   * Notes the present offset. Between two settings a clock drifts in one direction, so its largest
   * offset is at one of them.
   */
  noteOffset(): void {
    this.#maxAheadMs = Math.max(this.#maxAheadMs, this.#aheadMs);
  }

  get #aheadMs(): number {
    return this.#skewMs + this.#setAheadMs + this.#drift * this.#timeline.nowMs;
  }

  get #correctWallMs(): number {
    return EPOCH_MS + this.#timeline.nowMs;
  }
}
