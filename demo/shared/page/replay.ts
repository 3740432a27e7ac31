/**
 * The clock for both ways: it begins with the request, and runs so slowly that a person can follow.
 */

/** What the clock shows. */
export interface Course {
  /**
   * When the course ends, in milliseconds since its beginning; undefined while that is not known.
   */
  readonly endMs: () => number | undefined;
  /** How much of the course has happened. The clock shows no more. */
  readonly nowMs: () => number;
  /** Shows the course up to a time. */
  readonly show: (untilMs: number) => void;
}

/** Whether the reader of the page has asked for no motion. */
export function wantsNoMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/**
 * Shows a course in each frame until its end, `slower` times slower than real time. If the visitor
 * wants no motion, shows the result at once. A new course ends the one before.
 */
export function slowClock(): (course: Course, slower: number) => void {
  let frame = 0;
  return ({ endMs, nowMs, show }, slower) => {
    cancelAnimationFrame(frame);
    const beganAt = performance.now();
    const step = (): void => {
      const slowMs = wantsNoMotion() ? Infinity : (performance.now() - beganAt) / slower;
      const end = endMs();
      const untilMs = Math.min(slowMs, nowMs(), end ?? Infinity);
      show(untilMs);
      if (end === undefined || untilMs < end) frame = requestAnimationFrame(step);
    };
    step();
  };
}
