/** Where the bank's tellers and its auditor are. A page can import this file. */

export const TELLER_SITES = ['frankfurt', 'virginia'] as const;
export type TellerSite = (typeof TELLER_SITES)[number];

/** Puts all transfers in order, and so the total is read there. */
export const LEADER = 'ireland';

export const SITES = [LEADER, ...TELLER_SITES] as const;
export type Site = (typeof SITES)[number];

/** The delays between the sites: as the papers have them, or so long that people see what happens meanwhile. */
export const DELAYS = ['slow', 'measured'] as const;
export type Delays = (typeof DELAYS)[number];

/** How many times longer the slow delays are. */
export const SLOW_FACTOR = 10;

/** Where a site of a deployment listens, as a path of the server. */
export function toSitePath(delays: Delays, site: Site): string {
  return `${delays}-${site}`;
}
