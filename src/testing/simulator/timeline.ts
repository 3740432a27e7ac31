/**
 * Virtual time: events in the order of their times, those of one time in the
 * order in which they were planned.
 */

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

  /** Runs events until `untilMs`, or until `isDone` says so. */
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

  /** Puts it at the end, and moves down what comes after it. */
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

  /**
   * Puts it in the place of the first one, and moves up what comes before it.
   */
  #sink(planned: PlannedEvent): void {
    const { length } = this.#heap;
    let index = 0;
    for (let child = 1; child < length; child = index * 2 + 1) {
      if (
        child + 1 < length &&
        isBefore(
          this.#heap[child + 1] as PlannedEvent,
          this.#heap[child] as PlannedEvent,
        )
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
  return (
    item.atMs < other.atMs ||
    (item.atMs === other.atMs && item.order < other.order)
  );
}

/** What checkers go by that ask how long something takes. */
export class HealthyPeriods {
  readonly #timeline: Timeline;
  readonly #isInTheWay: () => boolean;
  #disturbedAtMs = 0;

  constructor(timeline: Timeline, isInTheWay: () => boolean) {
    this.#timeline = timeline;
    this.#isInTheWay = isInTheWay;
  }

  /** Until now something was in the way, or is for so long. */
  onDisturbed(forMs = 0): void {
    this.#disturbedAtMs = Math.max(
      this.#disturbedAtMs,
      this.#timeline.nowMs + forMs,
    );
  }

  /** `Infinity` while something is. */
  get sinceMs(): number {
    return this.#isInTheWay() ? Infinity : this.#disturbedAtMs;
  }

  get nowMs(): number {
    return this.#timeline.nowMs;
  }
}
