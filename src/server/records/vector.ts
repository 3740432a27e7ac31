/**
 * Vectors: one entry per site and a last one for the red order (RedBlue, OSDI 2012, §6.1: ⟨⟨b0…bk-1⟩, r⟩). An entry
 * says: all operations of that origin up to this stamp. The red order behaves like one more site.
 */

/** One stamp a site, then the red stamp. */
export type Vector = readonly number[];

/** The vector that covers nothing. */
export function zeroVector(siteCount: number): number[] {
  return Array.from({ length: siteCount + 1 }, () => 0);
}

/** Whether `a` ≤ `b` entry by entry, where the entry `except` does not count. */
export function isCovered(a: Vector, b: Vector, except = -1): boolean {
  for (let entry = 0; entry < a.length; entry += 1) {
    if (entry !== except && (a[entry] ?? 0) > (b[entry] ?? 0)) return false;
  }
  return true;
}

/** The largest entry: a new stamp must be above it. */
export function maxEntry(vector: Vector): number {
  let max = 0;
  for (const stamp of vector) if (stamp > max) max = stamp;
  return max;
}
