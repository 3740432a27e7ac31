/**
 * The span of time in which a slice counts operations that end. At first all workers begin at once, and at the end one
 * after the other stops. With few workers each is served sooner. So a rate by the time of the workers would be up to
 * twice the rate under full load.
 */

/** The span that counts. Times are as of `performance.now()`. */
export interface CountedSpan {
  /** When workers begin no more operations; `Infinity` while some have not ended their first one. */
  endsAt(): number;
  /** An operation has ended, the first of its worker or a later one. */
  ended(at: number, isFirst: boolean): void;
  /** Begins no more operations: a worker has failed, and its first operation may never end. */
  stop(): void;
  /** How many operations have ended within the span. */
  counted(): number;
}

/**
 * A span of `durationMs` that begins once each worker has ended an operation, and half as long again: at a moment that
 * no operation chooses, since a span from one end to another counts one too few.
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
