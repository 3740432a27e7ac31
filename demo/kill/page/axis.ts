/**
 * Round numbers for the axis of acknowledged writes, which stay the same while the counts vary a
 * little.
 */

const STEPS = [1, 2, 5, 10] as const;

/** Returns the smallest of 1, 2, 5, 10, 20, 50 and so on that is not below `count`. */
export function getAxisEnd(count: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, count)));
  return power * (STEPS.find((step) => step * power >= count) ?? 1);
}
