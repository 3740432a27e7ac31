/** Selects how a benchmark reads Cassandra. */
import { WAYS, type CassandraOptions } from '../../demo/shared/options.ts';
import { UsageError } from '../../engines/usage-error.ts';
import type { Settings } from '../harness/bench.ts';

export type ReadStrategy = CassandraOptions['way'];

/**
 * Returns the read strategy of the command line. Default: 3. @throws UsageError for an unknown
 * strategy
 */
export function getReadStrategy({ way = 3 }: Pick<Settings, 'way'>): ReadStrategy {
  const found = WAYS.find((item) => item === way);
  if (found === undefined)
    throw new UsageError(`--way takes one of ${WAYS.join(', ')}, not "${String(way)}"`);
  return found;
}

/** Returns the name of a result. Each strategy has its own results file. */
export function nameOf(bench: string, way: ReadStrategy): string {
  return way === 3 ? bench : `${bench}-way-${way}`;
}
