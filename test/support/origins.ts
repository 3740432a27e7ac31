/** Tests name sites by their places, from 0 on; what is logged and sent has their ordinals. */
import { Origins } from '../../src/server/service/records/origin.ts';
import type { Origin } from '../../src/server/service/records/origin.ts';

const MANY = Origins.create(Array.from({ length: 9 }, (_, place) => `s${place}`)).sites;

/** Returns the ordinal of the site at this place. */
export function siteAt(place: number): Origin {
  const origin = MANY[place];
  if (origin === undefined) throw new Error(`no test has a site ${place}`);
  return origin;
}

/** Returns the place of the site with this ordinal. */
export function getSiteIndex(site: Origin): number {
  return MANY.indexOf(site);
}

/** Returns the ordinals of the first `count` sites. */
export function sitesTo(count: number): readonly Origin[] {
  return MANY.slice(0, count);
}
