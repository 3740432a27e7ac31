/** The addresses of the sites for clients beside one of them. The page imports this file too. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';

/**
 * Returns the addresses, the nearest site first. @param address of the cluster's server, for
 * example `http://127.0.0.1:7400`
 */
export function waysFrom(
  address: string,
  from: Site,
): readonly (readonly [site: Site, url: string])[] {
  const distance = (to: Site): number => roundTripMs('paper', from, to);
  const base = address.replace(/^http/, 'ws').replace(/\/$/, '');
  return SITES.toSorted((a, b) => distance(a) - distance(b)).map((to) => [
    to,
    `${base}/${from}/${to}`,
  ]);
}
