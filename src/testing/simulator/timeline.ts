/**
 * Virtual time. Events run in the order of their times. Events of one time run in the order in
 * which they were planned.
 */
import type { Timing } from '../../server/node/storage/disk/files.ts';

interface PlannedEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class Timeline {
  nowMs = 0;
  #order = 0;
  /** A binary heap. */
  readonly #heap: PlannedEvent[] = [];

  schedule(delayMs: number, run: () => void): void {
    this.#rise({ atMs: this.nowMs + delayMs, order: this.#order++, run });
  }

  /** Runs events until `untilMs`, or until `isDone` returns true. */
  run(untilMs: number, isDone: () => boolean = () => false): void {
    while (!isDone()) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) break;
      const last = this.#heap.pop() as PlannedEvent;
      if (this.#heap.length > 0) this.#sink(last);
      this.nowMs = next.atMs;
      next.run();
    }
  }

  /** Inserts an event at the end of the heap, and moves later ones down. */
  #rise(planned: PlannedEvent): void {
    let index = this.#heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent] as PlannedEvent;
      if (!isBefore(planned, above)) break;
      this.#heap[index] = above;
      index = parent;
    }
    this.#heap[index] = planned;
  }

  /** Inserts an event at the top of the heap, and moves earlier ones up. */
  #sink(planned: PlannedEvent): void {
    const { length } = this.#heap;
    let index = 0;
    for (let child = 1; child < length; child = index * 2 + 1) {
      if (
        child + 1 < length &&
        isBefore(this.#heap[child + 1] as PlannedEvent, this.#heap[child] as PlannedEvent)
      )
        child += 1;
      const below = this.#heap[child] as PlannedEvent;
      if (!isBefore(below, planned)) break;
      this.#heap[index] = below;
      index = child;
    }
    this.#heap[index] = planned;
  }
}

function isBefore(item: PlannedEvent, other: PlannedEvent): boolean {
  return item.atMs < other.atMs || (item.atMs === other.atMs && item.order < other.order);
}

/** Returns the timers of a storage that runs on virtual time. */
export function createTiming(timeline: Timeline): Timing {
  return {
    soon: (run) => timeline.schedule(0, run),
    later: (run) => timeline.schedule(0, run),
    afterMs: (delayMs, run) => timeline.schedule(delayMs, run),
  };
}

/** The time since when no fault delays anything, for checkers of durations. */
export class HealthyPeriods {
  readonly #timeline: Timeline;
  readonly #isInTheWay: () => boolean;
  #disturbedAtMs = 0;

  constructor(timeline: Timeline, isInTheWay: () => boolean) {
    this.#timeline = timeline;
    this.#isInTheWay = isInTheWay;
  }

  /** Notes a fault until now, or for the next `forMs`. */
  onDisturbed(forMs = 0): void {
    this.#disturbedAtMs = Math.max(this.#disturbedAtMs, this.#timeline.nowMs + forMs);
  }

  /** When the last fault ended. `Infinity` while there is one. */
  get sinceMs(): number {
    return this.#isInTheWay() ? Infinity : this.#disturbedAtMs;
  }

  get nowMs(): number {
    return this.#timeline.nowMs;
  }
}
