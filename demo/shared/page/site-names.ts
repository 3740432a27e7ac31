/** The names of the sites and their distances, in words. */
import { ROUND_TRIPS_MS, SITES } from '../../../engines/wan.ts';
import { capitalize } from './format.ts';

/** Formats the name of a site for people. */
export function formatSite(name: string): string {
  return capitalize(name);
}

/** The site that orders the sales. A confirmed answer takes a round trip to it. */
const LEADER = 'ireland';

/** Describes the round trip for which a site waits until it confirms an answer. */
export function formatDistance(name: string): string {
  if (!SITES.some((site) => site === name)) return '';
  if (name === LEADER) return 'puts the sales in order';
  const ms = ROUND_TRIPS_MS[[name, LEADER].toSorted().join('-')];
  return `${ms} ms to ${formatSite(LEADER)} and back`;
}
