/** Virtual time: events in the order of their times, those of one time in the order in which they were planned. */

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A virtual clock and what is planned on it. */
export class Timeline {
  nowMs = 0;
  #order = 0;
  /** A binary heap. */
  readonly #heap: Planned[] = [];

  after(delayMs: number, run: () => void): void {
    this.#heap.push({ atMs: this.nowMs + delayMs, order: this.#order++, run });
    this.#rise(this.#heap.length - 1);
  }

  /** Runs events until `untilMs`, or until `isDone` says so. */
  run(untilMs: number, isDone: () => boolean = () => false): void {
    while (!isDone()) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#takeFirst();
      this.nowMs = next.atMs;
      next.run();
    }
  }

  #takeFirst(): void {
    const last = this.#heap.pop() as Planned;
    if (this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    for (let index = from; index > 0;) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ;) {
      let first = index;
      for (const child of [index * 2 + 1, index * 2 + 2]) {
        if (child < this.#heap.length && this.#isBefore(child, first)) first = child;
      }
      if (first === index) return;
      this.#swap(index, first);
      index = first;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a] as Planned, this.#heap[b] as Planned];
    return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b] as Planned, this.#heap[a] as Planned];
  }
}
