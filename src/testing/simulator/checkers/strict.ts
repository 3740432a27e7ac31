/**
 * Strict serializability of operations over several red logs: conflicts and real time together have
 * no cycle. It knows nothing of logs, stamps or holds, only which writer each read has seen, and
 * the order of the writers of each row.
 */

/** An operation that has committed, or a strong read. */
export interface StrictOperation {
  readonly name: string;
  /** When its client began it. */
  readonly begunAt: number;
  /** When its client got the answer, if it did. */
  readonly endedAt: number | undefined;
  /** By row: the writer that it has seen; `undefined` if there was none. */
  readonly seen: ReadonlyMap<string, string | undefined>;
}

/** The names of the writers of each row, in their order. */
export type WritersByRow = ReadonlyMap<string, readonly string[]>;

/** Edges between operations, and between moments. */
class Graph {
  readonly #edges = new Map<string, string[]>();

  add(from: string | undefined, to: string | undefined): void {
    if (from === undefined || to === undefined || from === to) return;
    const edges = this.#edges.get(from);
    if (edges === undefined) this.#edges.set(from, [to]);
    else edges.push(to);
  }

  /** Returns the nodes of a cycle in order, if there is one. */
  findCycle(): readonly string[] | undefined {
    const finished = new Set<string>();
    for (const start of this.#edges.keys()) {
      const cycle = this.#findCycleFrom(start, finished);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  }

  #findCycleFrom(start: string, finished: Set<string>): readonly string[] | undefined {
    if (finished.has(start)) return undefined;
    const path = [{ node: start, next: 0 }];
    const onPath = new Set([start]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const to = this.#edges.get(top.node)?.[top.next];
      top.next += 1;
      if (to === undefined) {
        path.pop();
        onPath.delete(top.node);
        finished.add(top.node);
      } else if (onPath.has(to)) {
        const nodes = path.map(({ node }) => node);
        return nodes.slice(nodes.indexOf(to));
      } else if (!finished.has(to)) {
        path.push({ node: to, next: 0 });
        onPath.add(to);
      }
    }
    return undefined;
  }
}

/**
 * Returns the names of operations that cannot be put into one order: each must come before the
 * next, and the last before the first. It is `undefined` if all operations are strictly
 * serializable.
 */
export function findStrictCycle(
  operations: readonly StrictOperation[],
  writersByRow: WritersByRow,
): readonly string[] | undefined {
  const graph = new Graph();
  addRealTime(graph, operations);
  for (const writers of writersByRow.values())
    for (const [place, writer] of writers.entries()) graph.add(writer, writers[place + 1]);
  for (const { name, seen } of operations) {
    for (const [row, writer] of seen) {
      const writers = writersByRow.get(row) ?? [];
      graph.add(writer, name);
      const place = writer === undefined ? -1 : writers.indexOf(writer);
      const overwrites = writers[place + 1];
      // It may have written the row itself, next after the one that it saw.
      graph.add(name, overwrites === name ? writers[place + 2] : overwrites);
    }
  }
  return graph.findCycle()?.filter((node) => !node.startsWith(MOMENT));
}

/** No name of an operation starts with this. */
const MOMENT = '\u0000';

/** What ended before a moment is before all that began at it or later. */
function addRealTime(graph: Graph, operations: readonly StrictOperation[]): void {
  const begins = [...new Set(operations.map(({ begunAt }) => begunAt))];
  begins.sort((a, b) => a - b);
  const toNode = (moment: number): string => `${MOMENT}${moment}`;
  for (const [place, moment] of begins.entries()) {
    const next = begins[place + 1];
    if (next !== undefined) graph.add(toNode(moment), toNode(next));
  }
  for (const { name, begunAt, endedAt } of operations) {
    graph.add(toNode(begunAt), name);
    if (endedAt === undefined) continue;
    const after = begins.find((moment) => moment > endedAt);
    if (after !== undefined) graph.add(name, toNode(after));
  }
}
