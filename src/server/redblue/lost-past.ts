/** What sites hold of each other's pasts: a site with less of its own than another one has of it has lost some. */

/** How far a site has got, as its own logs and its checkpoint say. */
export interface Holding {
  /** By origin: the last operation of its blue stream. */
  readonly streams: readonly number[];
  /** Entries of the red log. */
  readonly red: number;
}

/**
 * What a site is known to have lost: nothing leaves a site before it is synced there, so that no other site can have more
 * of it. The same holds of the red log and its leader.
 */
export function lostPast(
  holdings: readonly Holding[],
  { site, redLeader, names }: { readonly site: number; readonly redLeader: number; readonly names: readonly string[] },
): string | undefined {
  const own = holdings[site];
  if (own === undefined) return undefined;
  for (const [other, { streams, red }] of holdings.entries()) {
    const [has, knows] = [own.streams[site] ?? 0, streams[site] ?? 0];
    if (knows > has) return `site ${names[other]} has ${knows} operations of ${names[site]}, which has ${has} itself`;
    if (site === redLeader && red > own.red) {
      return `site ${names[other]} has ${red} entries of the red log, and ${names[site]}, which leads it, has ${own.red}`;
    }
  }
  return undefined;
}
