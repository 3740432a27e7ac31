/** Evaluates curves of throughput and latency: fits, peaks, and interpolated values. */

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

export interface LineFit {
  readonly slope: number;
  readonly intercept: number;
  /** The share of the variance that the line explains; 1 if there is none. */
  readonly rSquared: number;
}

/** Fits a line by least squares. A single x has no slope. */
export function fitLine(points: readonly CurvePoint[]): LineFit {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of points) {
    xx += (x - meanX) ** 2;
    xy += (x - meanX) * (y - meanY);
    yy += (y - meanY) ** 2;
  }
  const slope = xx === 0 ? 0 : xy / xx;
  const rSquared = xx === 0 || yy === 0 ? 1 : xy ** 2 / (xx * yy);
  return { slope, intercept: meanY - slope * meanX, rSquared };
}

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
 * Returns the lowest x, among the x values of both curves, from which on `of` stays below `to`; NaN if there is none.
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
