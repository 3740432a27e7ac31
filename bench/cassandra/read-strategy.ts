/** Which way to Cassandra a benchmark takes. */
import { WAYS, type CassandraOptions } from '../../demo/shared/options.ts';
import { UsageError } from '../../engines/usage-error.ts';
import type { Settings } from '../harness/bench.ts';

export type ReadStrategy = CassandraOptions['way'];

/** The way that was asked for; 3 unless one was. @throws UsageError for one that there is not */
export function getReadStrategy({ way = 3 }: Pick<Settings, 'way'>): ReadStrategy {
  const found = WAYS.find((item) => item === way);
  if (found === undefined) throw new UsageError(`--way takes one of ${WAYS.join(', ')}, not "${String(way)}"`);
  return found;
}

/** The results of the ways are kept side by side. */
export function nameOf(bench: string, way: ReadStrategy): string {
  return way === 3 ? bench : `${bench}-way-${way}`;
}
