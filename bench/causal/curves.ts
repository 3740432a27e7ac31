/** Evaluates curves of throughput and latency: peaks, and interpolated values. */
import type { CurvePoint } from '../harness/fit-line.ts';

/** Returns the part of a curve up to its highest x, in the order of the points. */
export function takeRising(points: readonly CurvePoint[]): readonly CurvePoint[] {
  const highest = Math.max(...points.map(({ x }) => x));
  return points.slice(0, points.findIndex(({ x }) => x === highest) + 1);
}

/** Returns y at x on the rising part, between the points; NaN outside. */
export function interpolate(points: readonly CurvePoint[], x: number): number {
  const rising = takeRising(points);
  for (const [at, right] of rising.entries()) {
    const left = rising[at - 1];
    if (right.x === x) return right.y;
    if (left === undefined || x < left.x || x > right.x) continue;
    return left.y + ((right.y - left.y) * (x - left.x)) / (right.x - left.x);
  }
  return NaN;
}

/**
 * Returns the lowest x, among the x values of both curves, from which on `of` stays below `to`; NaN
 * if there is none.
 */
export function findCrossing(of: readonly CurvePoint[], to: readonly CurvePoint[]): number {
  const end = Math.min(...[of, to].map((points) => Math.max(...points.map(({ x }) => x))));
  const start = Math.max(...[of, to].map((points) => points[0]?.x ?? NaN));
  const steps = 1_000;
  let crossing = NaN;
  for (let step = steps; step >= 0; step -= 1) {
    const x = start + ((end - start) * step) / steps;
    if (interpolate(of, x) >= interpolate(to, x)) break;
    crossing = x;
  }
  return crossing;
}
