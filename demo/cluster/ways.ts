/** The sites as clients beside one of them reach them; for the page, too. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';

/** @param address of the cluster's server, as `http://127.0.0.1:7400`; the nearest site comes first */
export function waysFrom(address: string, from: Site): readonly (readonly [site: Site, url: string])[] {
  const distance = (to: Site): number => roundTripMs('paper', from, to);
  const base = address.replace(/^http/, 'ws').replace(/\/$/, '');
  return SITES.toSorted((a, b) => distance(a) - distance(b)).map((to) => [to, `${base}/${from}/${to}`]);
}
