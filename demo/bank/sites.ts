/** Where the bank's tellers and its auditor are. A page can import this file. */

export const TELLER_SITES = ['frankfurt', 'virginia'] as const;
export type TellerSite = (typeof TELLER_SITES)[number];

/** The site that orders all transfers. The total is read there. */
export const LEADER = 'ireland';

export const SITES = [LEADER, ...TELLER_SITES] as const;
export type Site = (typeof SITES)[number];

/** The delays between the sites: those of the papers, or longer ones, so that people can watch. */
export const DELAYS = ['slow', 'measured'] as const;
export type Delays = (typeof DELAYS)[number];

/** How many times longer the slow delays are. */
export const SLOW_FACTOR = 10;

/** Returns the path of the server at which a site of a deployment listens. */
export function toSitePath(delays: Delays, site: Site): string {
  return `${delays}-${site}`;
}
