/** The people of the page. */
import { REGIONS, type Region } from '../regions.ts';

const NAMES: Readonly<Record<Region, readonly string[]>> = {
  eu: ['Ada', 'Ben', 'Cleo', 'Dan'],
  us: ['Eve', 'Finn', 'Gus', 'Hana'],
};

/** Returns the users of a region, such as `eu/ada`. */
export function listPeople(region: Region): readonly string[] {
  return NAMES[region].map((name) => `${region}/${name.toLowerCase()}`);
}

export const EVERYBODY: readonly string[] = REGIONS.flatMap(listPeople);

/** Returns the name of a user, such as `Ada` of `eu/ada`. */
export function formatUser(user: string): string {
  const name = user.slice(user.indexOf('/') + 1);
  return name.charAt(0).toUpperCase() + name.slice(1);
}
