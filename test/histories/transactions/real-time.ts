/**
 * Cycles that the order in real time closes. One step of real time is enough for each: of two
 * pairs, in each of which one transaction ended before the other began, one end is before the other
 * beginning too. So there is such a cycle if, and only if, some transaction leads by data to one
 * that had ended when it began.
 */
import { findPath, type Kinds } from './cycles.ts';
import type { Dependency, DependencyGraph } from './dependency-graph.ts';
import type { RecordedTransaction } from './recorded-transaction.ts';

const DATA: Kinds = new Set(['ww', 'wr', 'rw']);

/** One fault of a store may be seen by thousands. */
const MAX_SEARCHES = 1_000;

/**
 * Returns short cycles among `members`, which have no transaction in common.
 *
 * @param members transactions among which no cycle of data is
 */
export function findRealTimeCycles(
  graph: DependencyGraph,
  members: ReadonlySet<number>,
): (readonly Dependency[])[] {
  const cycles = findLateStarters(graph, members)
    .slice(0, MAX_SEARCHES)
    .map((late) => closeCycle(graph, late, members))
    .toSorted((a, b) => a.length - b.length);

  const explained = new Set<number>();
  return cycles.filter((cycle) => {
    if (cycle.some(({ from }) => explained.has(from))) return false;
    for (const { from } of cycle) explained.add(from);
    return true;
  });
}

/** Returns those that lead to a transaction which had ended when they began. */
function findLateStarters(graph: DependencyGraph, members: ReadonlySet<number>): number[] {
  const { transactions } = graph;
  const incoming = reverse(graph, members);
  const visited = new Set<number>();
  const late: number[] = [];
  const byEnd = [...members].toSorted(
    (a, b) => getEnd(transactions[a]!) - getEnd(transactions[b]!),
  );

  // A transaction is first visited from the earliest end that it leads to.
  for (const goal of byEnd) {
    const pending = visited.has(goal) ? [] : [goal];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (visited.has(node)) continue;
      visited.add(node);
      if (isBefore(transactions[goal]!, transactions[node]!)) late.push(node);
      pending.push(...incoming[node]!);
    }
  }
  return late;
}

function reverse({ outgoing }: DependencyGraph, members: ReadonlySet<number>): number[][] {
  const incoming: number[][] = outgoing.map(() => []);
  for (const node of members) {
    for (const { to } of outgoing[node]!) if (members.has(to)) incoming[to]!.push(node);
  }
  return incoming;
}

function closeCycle(
  graph: DependencyGraph,
  late: number,
  members: ReadonlySet<number>,
): readonly Dependency[] {
  const { transactions } = graph;
  const isGoal = (node: number): boolean => isBefore(transactions[node]!, transactions[late]!);
  const path = findPath(graph, { from: late, isGoal, kinds: DATA, maxLength: Infinity }, members)!;
  return [...path, { from: path.at(-1)!.to, to: late, kind: 'realtime' }];
}

function isBefore(one: RecordedTransaction, other: RecordedTransaction): boolean {
  return other.isSnapshot !== true && getEnd(one) < other.startAt;
}

/** A transaction of unknown outcome may take effect at any later time. */
function getEnd({ outcome, endAt, isSnapshot }: RecordedTransaction): number {
  return outcome === 'committed' && isSnapshot !== true ? endAt : Infinity;
}
