/**
 * Judges histories of transactions on lists: whether a strictly serializable store can have given
 * them. The method is that of Elle (VLDB 2020).
 */
import type { Anomaly, AnomalyName } from './anomaly.ts';
import { findComponents, findShortestCycle, type CycleQuery, type Kinds } from './cycles.ts';
import { buildDependencyGraph, type Dependency, type DependencyGraph } from './dependency-graph.ts';
import { findReadAnomalies } from './read-anomalies.ts';
import { findRealTimeCycles } from './real-time.ts';
import type { RecordedTransaction } from './recorded-transaction.ts';
import { observeHistory } from './version-orders.ts';

const DATA: Kinds = new Set(['ww', 'wr', 'rw']);
const WRITES: Kinds = new Set(['ww']);
const WRITES_AND_READS: Kinds = new Set(['ww', 'wr']);

/** The worst first, as the worst one of a component is reported. */
const DATA_CYCLES: readonly CycleQuery[] = [
  { through: 'ww', along: WRITES },
  { through: 'wr', along: WRITES_AND_READS },
  { through: 'rw', along: WRITES_AND_READS },
  { through: 'rw', along: DATA },
];

/**
 * Returns what a strictly serializable store cannot have done; nothing if it can have given this
 * history. Of transactions that contradict each other, the shortest contradiction is reported.
 *
 * @throws Error if two appends add the same element to the same key
 * @example
 * const anomalies = checkTransactions(history);
 * expect(anomalies.map(formatAnomaly)).toEqual([]);
 */
export function checkTransactions(history: readonly RecordedTransaction[]): Anomaly[] {
  const observed = observeHistory(history);
  const graph = buildDependencyGraph(observed);
  return [...findReadAnomalies(observed), ...findCycles(graph)];
}

/** One line, such as `G2: T1 did not see 2, which T2 appended to y, but …`. */
export function formatAnomaly({ name, explanation }: Anomaly): string {
  return `${name}: ${explanation}`;
}

function findCycles(graph: DependencyGraph): Anomaly[] {
  const remaining = new Set(graph.transactions.keys());
  const cycles: (readonly Dependency[])[] = [];
  for (const component of findComponents(graph, DATA, remaining)) {
    cycles.push(findDataCycle(graph, new Set(component)));
    for (const member of component) remaining.delete(member);
  }
  cycles.push(...findRealTimeCycles(graph, remaining));
  return cycles.map((cycle) => describeCycle(graph, cycle));
}

function findDataCycle(
  graph: DependencyGraph,
  members: ReadonlySet<number>,
): readonly Dependency[] {
  for (const query of DATA_CYCLES) {
    const cycle = findShortestCycle(graph, query, members);
    if (cycle !== undefined) return cycle;
  }
  throw new Error('A component without a cycle is none.');
}

function describeCycle({ transactions }: DependencyGraph, cycle: readonly Dependency[]): Anomaly {
  const ids = cycle.map(({ from }) => transactions[from]!.id);
  const reasons = cycle.map((edge) => explainDependency(transactions, edge));
  return {
    name: nameCycle(cycle),
    transactions: ids,
    explanation: `${reasons.join(', ')}. So ${[...ids, ids[0]].join(' < ')}`,
  };
}

function nameCycle(cycle: readonly Dependency[]): AnomalyName {
  const count = (kind: Dependency['kind']): number =>
    cycle.filter((edge) => edge.kind === kind).length;
  if (count('realtime') > 0) return 'realtime';
  if (count('rw') > 0) return count('rw') === 1 ? 'G-single' : 'G2';
  return count('wr') > 0 ? 'G1c' : 'G0';
}

function explainDependency(
  transactions: readonly RecordedTransaction[],
  { from, to, kind, key, element }: Dependency,
): string {
  const before = transactions[from]!;
  const after = transactions[to]!;
  switch (kind) {
    case 'ww':
      return `${after.id} appended ${element} to ${key} after an append of ${before.id}`;
    case 'wr':
      return `${after.id} read ${element} in ${key}, which ${before.id} appended`;
    case 'rw':
      return `${before.id} did not see ${element} in ${key}, which ${after.id} appended`;
    case 'realtime':
      return `${before.id} ended at ${before.endAt} ms, before ${after.id} began at ${after.startAt} ms`;
  }
}
