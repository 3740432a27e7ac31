/**
 * How much the tests do: `node scripts/test.mjs --lane <lane>`. Vitest alone runs everything in
 * full. A file that imports this one runs again in the remaining lane, with full counts.
 */

const LANES = ['fast', 'remaining', 'all', 'nightly'] as const;

export type Lane = (typeof LANES)[number];

export const lane: Lane = LANES.find((name) => name === process.env['TEST_LANE']) ?? 'all';

/**
 * Returns how many cases to try instead of `full`: a tenth in the fast lane, ten times as many at
 * night.
 */
export function scaleRuns(full: number): number {
  if (lane === 'fast') return Math.ceil(full / 10);
  return lane === 'nightly' ? full * 10 : full;
}

/** Tables often repeat a pattern after 2, 4 or 10 cases. A step of 11 does not coincide with it. */
const STRIDE = 11;

/** Returns the cases to try: in the fast lane every eleventh. */
export function sampleCases<T>(cases: Iterable<T>): T[] {
  const all = [...cases];
  return lane === 'fast' ? all.filter((_, index) => index % STRIDE === 0) : all;
}

/** Returns the cases that are too slow for the fast lane. There it returns no cases. */
export function slowCases<T>(...cases: readonly T[]): readonly T[] {
  return lane === 'fast' ? [] : cases;
}
