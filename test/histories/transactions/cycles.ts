/** Cycles of a dependency graph: the components that have one, and a shortest one of each. */
import type { Dependency, DependencyGraph, DependencyKind } from './dependency-graph.ts';

export type Kinds = ReadonlySet<DependencyKind>;

/** Which cycles to look for. */
export interface CycleQuery {
  /** The cycle has a dependency of this kind, */
  readonly through: DependencyKind;
  /** and all others are of these. */
  readonly along: Kinds;
}

/**
 * Returns the strongly connected components of more than one transaction, by dependencies of
 * `kinds` among `members` (Tarjan's algorithm, without recursion).
 */
export function findComponents(
  { outgoing }: DependencyGraph,
  kinds: Kinds,
  members: ReadonlySet<number>,
): number[][] {
  const components: number[][] = [];
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();

  for (const root of members) {
    if (order.has(root)) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const frame = path.at(-1)!;
      const edge = outgoing[frame.node]![frame.next++];
      if (edge === undefined) {
        path.pop();
        leave(frame.node, path.at(-1)?.node);
      } else if (kinds.has(edge.kind) && members.has(edge.to)) {
        if (!order.has(edge.to)) path.push(enter(edge.to));
        else if (isOpen.has(edge.to)) lower(frame.node, order.get(edge.to)!);
      }
    }
  }
  return components;

  function enter(node: number): { readonly node: number; next: number } {
    order.set(node, order.size);
    low.set(node, order.get(node)!);
    open.push(node);
    isOpen.add(node);
    return { node, next: 0 };
  }

  function lower(node: number, to: number): void {
    low.set(node, Math.min(low.get(node)!, to));
  }

  function leave(node: number, parent: number | undefined): void {
    if (parent !== undefined) lower(parent, low.get(node)!);
    if (low.get(node) !== order.get(node)) return;
    const component = open.splice(open.lastIndexOf(node));
    for (const member of component) isOpen.delete(member);
    if (component.length > 1) components.push(component);
  }
}

/**
 * Limits the search in a component of many thousands. What is then found is a cycle, but there may
 * be a shorter or worse one.
 */
const MAX_SEARCHES = 2_000;

/** Returns a shortest cycle among `members`. */
export function findShortestCycle(
  graph: DependencyGraph,
  { through, along }: CycleQuery,
  members: ReadonlySet<number>,
): readonly Dependency[] | undefined {
  let shortest: readonly Dependency[] | undefined;
  let searches = 0;
  for (const node of members) {
    for (const first of graph.outgoing[node]!) {
      if (first.kind !== through || !members.has(first.to)) continue;
      const maxLength = (shortest?.length ?? Infinity) - 2;
      const isGoal = (other: number): boolean => other === node;
      const back = findPath(graph, { from: first.to, isGoal, kinds: along, maxLength }, members);
      if (back !== undefined) shortest = [first, ...back];
      searches += 1;
      // There is no cycle of one transaction.
      if (shortest?.length === 2 || searches === MAX_SEARCHES) return shortest;
    }
  }
  return shortest;
}

export interface PathQuery {
  readonly from: number;
  readonly isGoal: (node: number) => boolean;
  readonly kinds: Kinds;
  readonly maxLength: number;
}

/** Returns a shortest path among `members`, breadth first. */
export function findPath(
  { outgoing }: DependencyGraph,
  { from, isGoal, kinds, maxLength }: PathQuery,
  members: ReadonlySet<number>,
): Dependency[] | undefined {
  const arrivals = new Map<number, Dependency | undefined>([[from, undefined]]);
  let level = [from];
  for (let length = 1; level.length > 0 && length <= maxLength; length += 1) {
    const following: number[] = [];
    for (const node of level) {
      for (const edge of outgoing[node]!) {
        if (!kinds.has(edge.kind) || !members.has(edge.to) || arrivals.has(edge.to)) continue;
        arrivals.set(edge.to, edge);
        if (isGoal(edge.to)) return tracePath(arrivals, edge.to);
        following.push(edge.to);
      }
    }
    level = following;
  }
  return undefined;
}

function tracePath(
  arrivals: ReadonlyMap<number, Dependency | undefined>,
  to: number,
): Dependency[] {
  const path: Dependency[] = [];
  for (let edge = arrivals.get(to); edge !== undefined; edge = arrivals.get(edge.from))
    path.unshift(edge);
  return path;
}
