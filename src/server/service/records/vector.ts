/**
 * Vectors have one entry for each origin, by its ordinal, so that the entry of the red log of
 * `main` is the first (RedBlue, OSDI 2012, §6.1: ⟨⟨b0…bk-1⟩, r⟩). An entry covers all operations of
 * that origin up to its stamp. A red log behaves like one more site. A vector without an entry
 * covers nothing of that origin, so a vector from before a site joined keeps its meaning.
 */
import type { Origin, Origins } from './origin.ts';

export type Vector = readonly number[];

/** The vector that covers nothing. */
export function createZeroVector({ size }: Origins): number[] {
  return Array.from({ length: size }, () => 0);
}

export function getStampOf(vector: Vector, origin: Origin): number {
  return vector[origin] ?? 0;
}

/** The stamps of the ends of closed streams, by ordinal: see `Origins.finals`. */
export type Finals = readonly (number | undefined)[] | undefined;

/**
 * Whether `a` ≤ `b` without the entry `except`. An entry beyond the end of a closed stream counts
 * as that end.
 */
export function isCovered(a: Vector, b: Vector, except = -1, finals?: Finals): boolean {
  for (let entry = 0; entry < a.length; entry += 1) {
    const stamp = a[entry] ?? 0;
    if (entry === except || stamp <= (b[entry] ?? 0)) continue;
    if ((finals?.[entry] ?? stamp) > (b[entry] ?? 0)) return false;
  }
  return true;
}

/** The largest entry: a new stamp must be above it. */
export function getMaxEntry(vector: Vector): number {
  let max = 0;
  for (const stamp of vector) if (stamp > max) max = stamp;
  return max;
}
