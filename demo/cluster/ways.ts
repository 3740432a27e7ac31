/** The sites as clients beside one of them reach them; for the page, too. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';

/** @param origin of the cluster's server, as `http://127.0.0.1:7400`; the nearest site comes first */
export function waysFrom(origin: string, from: Site): readonly (readonly [site: Site, url: string])[] {
  const distance = (to: Site): number => roundTripMs('paper', from, to);
  const base = origin.replace(/^http/, 'ws');
  return SITES.toSorted((a, b) => distance(a) - distance(b)).map((to) => [to, `${base}/${from}/${to}`]);
}
