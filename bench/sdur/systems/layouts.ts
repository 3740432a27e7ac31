/**
 * Where the servers of the paper's two deployments are, and how long messages take between them.
 */

export const WANS = ['WAN 1', 'WAN 2'] as const;
export type Wan = (typeof WANS)[number];

/** A server of the machine, or a site of the product, by its region and a number. */
export type Place = `${'eu' | 'us-east' | 'us-west'}-${number}`;

/**
 * The servers of a partition. The first one leads its log, and its clients are connected to that
 * one.
 */
export type Servers = readonly [Place, Place, Place];

/**
 * By partition. In WAN 1 a majority of each partition is in one region. In WAN 2 each server of a
 * partition is in another region. In the machine the servers of two partitions at one place are two
 * servers. In the product they are one site, since a site has all logs.
 */
export const LAYOUTS: Readonly<Record<Wan, readonly [Servers, Servers]>> = {
  'WAN 1': [
    ['eu-1', 'eu-2', 'us-east-1'],
    ['us-east-1', 'us-east-2', 'eu-1'],
  ],
  'WAN 2': [
    ['eu-1', 'us-east-1', 'us-west-1'],
    ['us-east-1', 'eu-1', 'us-west-1'],
  ],
};

/** The delays one way, in milliseconds. */
const WITHIN_REGION_MS = 1;
const BETWEEN_REGIONS_MS: Readonly<Record<string, number>> = {
  'eu us-east': 90,
  'us-east us-west': 100,
  'eu us-west': 170,
};

export function getDelayMs(from: Place, to: Place): number {
  const [one = '', other = ''] = [getRegion(from), getRegion(to)].toSorted();
  return one === other ? WITHIN_REGION_MS : (BETWEEN_REGIONS_MS[`${one} ${other}`] as number);
}

function getRegion(place: Place): string {
  return place.slice(0, place.lastIndexOf('-'));
}
