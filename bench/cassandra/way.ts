/** Which way to Cassandra a benchmark takes. */
import { WAYS, type CassandraOptions } from '../../demo/shared/options.ts';
import { UsageError } from '../../engines/usage-error.ts';
import type { Settings } from '../harness/bench.ts';

export type Way = CassandraOptions['way'];

/** The way that was asked for; 3 unless one was. @throws UsageError for one that there is not */
export function wayOf({ way = 3 }: Pick<Settings, 'way'>): Way {
  const found = WAYS.find((each) => each === way);
  if (found === undefined) throw new UsageError(`--way takes one of ${WAYS.join(', ')}, not "${String(way)}"`);
  return found;
}

/** The results of the ways are kept side by side. */
export function nameOf(bench: string, way: Way): string {
  return way === 3 ? bench : `${bench}-way-${way}`;
}
