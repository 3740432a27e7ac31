/** Shows a course of milliseconds so slowly that a person can follow it. */

/** A race of 50 ms takes two seconds. */
const SLOWER = 40;

/**
 * Calls `show` with growing times, once a frame, up to `endMs`; at once with the end for those who want no motion.
 * Starting a replay ends the one before.
 */
export function replayer(): (endMs: number, show: (untilMs: number) => void) => void {
  let frame = 0;
  return (endMs, show) => {
    cancelAnimationFrame(frame);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      show(endMs);
      return;
    }
    let beganAt: number | undefined;
    const step = (now: number): void => {
      beganAt ??= now;
      const untilMs = Math.min(endMs, (now - beganAt) / SLOWER);
      show(untilMs);
      if (untilMs < endMs) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  };
}
