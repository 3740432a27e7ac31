/** Fits a line to points. */

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
