/** The names of the sites and their distances, in words. */
import { ROUND_TRIPS_MS, SITES } from '../../../engines/wan.ts';
import { capitalize } from './format.ts';

/** The name as people write it. */
export function formatSite(name: string): string {
  return capitalize(name);
}

/** Orders the sales: a confirmed answer takes a round trip to it. */
const LEADER = 'ireland';

/** What a site waits for when it confirms an answer. */
export function formatDistance(name: string): string {
  if (!SITES.some((site) => site === name)) return '';
  if (name === LEADER) return 'puts the sales in order';
  const ms = ROUND_TRIPS_MS[[name, LEADER].toSorted().join('-')];
  return `${ms} ms to ${formatSite(LEADER)} and back`;
}
