/** The slope of samples over time, by least squares, with its 95 % interval. */

/** A sample: when, in milliseconds, and how much. */
export type Point = readonly [atMs: number, value: number];

export interface Slope {
  /** Per hour. */
  readonly slope: number;
  readonly low: number;
  readonly high: number;
}

const HOUR_MS = 3_600_000;
/**
 * Quantiles of Student's distribution, two-sided 95 %, by degrees of freedom; beyond them that of
 * the normal one.
 */
const QUANTILES = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13,
];
const NORMAL = 1.96;

/**
 * Fits a line. With fewer than three samples the interval is infinite.
 *
 * @param swing how much the value comes and goes by itself: the interval is wider by what that
 * makes from end to end
 */
export function fitSlope(points: readonly Point[], swing = 0): Slope {
  const [meanAt, mean] = [0, 1].map(
    (part) => sum(points.map((point) => point[part] as number)) / points.length,
  ) as [number, number];
  const spread = sum(points.map(([atMs]) => (atMs - meanAt) ** 2));
  if (points.length < 3 || spread === 0) return { slope: 0, low: -Infinity, high: Infinity };
  const perMs = sum(points.map(([atMs, value]) => (atMs - meanAt) * (value - mean))) / spread;
  const residuals = points.map(([atMs, value]) => value - mean - perMs * (atMs - meanAt));
  const freedom = points.length - 2;
  const error = Math.sqrt(sum(residuals.map((residual) => residual ** 2)) / freedom / spread);
  const lastsMs = (points.at(-1) as Point)[0] - (points[0] as Point)[0];
  const widthMs = error * (QUANTILES[freedom - 1] ?? NORMAL) + swing / lastsMs;
  return {
    slope: perMs * HOUR_MS,
    low: (perMs - widthMs) * HOUR_MS,
    high: (perMs + widthMs) * HOUR_MS,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** How a slope is judged. */
export type Verdict = 'met' | 'missed' | 'undecided';

/**
 * Whether a slope keeps within a bound on both sides. Of a run that is long enough the slope itself
 * decides; of a short one the whole interval must.
 */
export function judgeSlope({ slope, low, high }: Slope, bound: number, isLong: boolean): Verdict {
  if (isLong) return Math.abs(slope) <= bound ? 'met' : 'missed';
  if (low >= -bound && high <= bound) return 'met';
  return low > bound || high < -bound ? 'missed' : 'undecided';
}
