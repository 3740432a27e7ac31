/**
 * Determines the span of time in which a slice counts operations. At the end of a slice, workers
 * stop one after the other, and the remaining ones are served faster. So a rate by the busy time of
 * the workers would be up to twice the rate under full load.
 */

/** A counted span. Times are by `performance.now()`. */
export interface CountedSpan {
  /**
   * When workers begin no more operations; `Infinity` while some have not ended their first one.
   */
  endsAt(): number;
  /** Called when an operation has ended, the first of its worker or a later one. */
  ended(at: number, isFirst: boolean): void;
  /** Ends the span, because a worker has failed, whose first operation may never end. */
  stop(): void;
  /** How many operations have ended within the span. */
  counted(): number;
}

/**
 * Creates a span of `durationMs`. It begins after each worker has ended an operation, plus half of
 * that time. So its start does not coincide with the end of an operation, which would make the
 * count too low by one.
 */
export function countedSpan(workers: number, durationMs: number): CountedSpan {
  const createdAt = performance.now();
  const ends: number[] = [];
  let [left, beginsAt, isStopped] = [workers, Infinity, false];
  return {
    endsAt: () => (isStopped ? -Infinity : beginsAt + durationMs),
    ended(at, isFirst) {
      ends.push(at);
      if (isFirst) left -= 1;
      if (isFirst && left === 0) beginsAt = at + (at - createdAt) / 2;
    },
    stop: () => (isStopped = true),
    counted: () => ends.filter((at) => at > beginsAt && at <= beginsAt + durationMs).length,
  };
}
