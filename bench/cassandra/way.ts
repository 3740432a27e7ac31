/** Which way to Cassandra a benchmark takes. */
import { WAYS, type CassandraOptions } from '../../demo/shared/options.ts';
import type { Settings } from '../harness/bench.ts';

export type Way = CassandraOptions['way'];

/** The way that was asked for; 3 unless one was. @throws RangeError for one that there is not */
export function wayOf({ way = 3 }: Pick<Settings, 'way'>): Way {
  const found = WAYS.find((each) => each === way);
  if (found === undefined) throw new RangeError(`--way: one of ${WAYS.join(', ')}, not "${way}"`);
  return found;
}

/** The results of the ways are kept side by side. */
export function nameOf(bench: string, way: Way): string {
  return way === 3 ? bench : `${bench}-way-${way}`;
}
