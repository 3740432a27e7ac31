/**
 * Stamps of a hybrid clock, and vectors with one stamp for each site.
 *
 * A stamp is a number of microseconds since the epoch: an exact integer in a double until the year
 * 2255, so that it needs no bigint.
 */

/** A time of a hybrid clock, in microseconds. */
export type Stamp = number;

/** One stamp for each site, in the order of the sites. */
export type Vector = readonly Stamp[];

/** The place of a site in each vector, counted from 0. */
export type SiteIndex = number;

export const MICROSECONDS_PER_MS = 1_000;

/** Returns a vector that depends on nothing. */
export function createZeroVector(siteCount: number): Vector {
  return Array.from({ length: siteCount }, () => 0);
}

/** Returns the higher stamp of each site. */
export function maxVector(a: Vector, b: Vector): Vector {
  return a.map((stamp, site) => Math.max(stamp, b[site] ?? 0));
}

/** Returns the lower stamp of each site. */
export function minVector(a: Vector, b: Vector): Vector {
  return a.map((stamp, site) => Math.min(stamp, b[site] ?? 0));
}

/** Returns a copy of `vector` with another stamp for `site`. */
export function withStamp(vector: Vector, site: SiteIndex, stamp: Stamp): Vector {
  return vector.map((previous, index) => (index === site ? stamp : previous));
}

/** Returns a copy of `vector` whose stamp of `site` is at least `stamp`. */
export function raiseStamp(vector: Vector, site: SiteIndex, stamp: Stamp): Vector {
  return withStamp(vector, site, Math.max(getStamp(vector, site), stamp));
}

/** Returns whether no stamp of `vector` is above that of `bound`. */
export function isCovered(vector: Vector, bound: Vector): boolean {
  return vector.every((stamp, site) => stamp <= getStamp(bound, site));
}

/** Returns whether no stamp of another site than `own` is above that of `bound`. */
export function isRemotelyCovered(vector: Vector, bound: Vector, own: SiteIndex): boolean {
  return vector.every((stamp, site) => site === own || stamp <= getStamp(bound, site));
}

/** Returns the stamp of `site`; 0 if the vector has none. */
export function getStamp(vector: Vector, site: SiteIndex): Stamp {
  return vector[site] ?? 0;
}
