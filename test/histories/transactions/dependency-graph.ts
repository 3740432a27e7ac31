/** Which transaction must be before which, by what they wrote and read. */
import type { Element, RecordedTransaction } from './recorded-transaction.ts';
import type { ObservedHistory } from './version-orders.ts';

/**
 * `ww`: `to` wrote the next version. `wr`: `to` read what `from` wrote. `rw`: `from` did not see
 * what `to` wrote. `realtime`: `from` had ended when `to` began.
 */
export type DependencyKind = 'ww' | 'wr' | 'rw' | 'realtime';

export interface Dependency {
  /** Indexes of transactions in the history. */
  readonly from: number;
  readonly to: number;
  readonly kind: DependencyKind;
  readonly key?: string;
  /** What `to` appended or, if `wr`, what `from` did. */
  readonly element?: Element;
}

/** Has no dependencies in real time: there would be too many, and `real-time.ts` needs none. */
export interface DependencyGraph {
  readonly transactions: readonly RecordedTransaction[];
  /** The dependencies that lead away from each transaction. */
  readonly outgoing: readonly (readonly Dependency[])[];
}

/** Builds the graph in about linear time: nothing that follows from other dependencies is in it. */
export function buildDependencyGraph(history: ObservedHistory): DependencyGraph {
  const transactions = history.effective;
  const indexes = new Map(transactions.map((transaction, index) => [transaction, index]));
  const outgoing: Dependency[][] = transactions.map(() => []);
  const add = (dependency: Dependency): void => {
    if (dependency.from !== dependency.to) outgoing[dependency.from]!.push(dependency);
  };

  const findIndex: FindIndex = (key, element) => {
    const writer = history.findWriter(key, element);
    return writer === undefined ? undefined : indexes.get(writer);
  };
  addWriteOrders(history, findIndex, add);
  transactions.forEach((transaction, reader) => {
    for (const [key, version] of listExternalReads(transaction))
      addRead(history, { reader, key, version }, { findIndex, add });
  });
  return { transactions, outgoing };
}

/** Returns the transaction that appended an element; `undefined` if it did not take effect. */
type FindIndex = (key: string, element: Element) => number | undefined;
type Add = (dependency: Dependency) => void;

function addWriteOrders({ orders }: ObservedHistory, findIndex: FindIndex, add: Add): void {
  for (const [key, { elements, unseen }] of orders) {
    let from: number | undefined;
    for (const element of elements) {
      const to = findIndex(key, element);
      if (to === undefined) continue;
      if (from !== undefined) add({ from, to, kind: 'ww', key, element });
      from = to;
    }
    // The order among the unseen ones is not known.
    for (const element of unseen) {
      const to = findIndex(key, element);
      if (from !== undefined && to !== undefined) add({ from, to, kind: 'ww', key, element });
    }
  }
}

interface VersionRead {
  readonly reader: number;
  readonly key: string;
  /** The last element of the list; `undefined` if it was empty. */
  readonly version: Element | undefined;
}

/**
 * The versions that others wrote: a transaction's own appends at the end of a list do not count.
 */
function listExternalReads({ operations }: RecordedTransaction): Map<string, Element | undefined> {
  const own = new Map<string, Set<Element>>();
  const reads = new Map<string, Element | undefined>();
  for (const operation of operations) {
    if ('append' in operation) {
      const [key, element] = operation.append;
      own.set(key, (own.get(key) ?? new Set()).add(element));
      continue;
    }
    const [key, list] = operation.read;
    // Reads that differ are reported as internal.
    if (reads.has(key)) continue;
    let length = list.length;
    while (length > 0 && own.get(key)?.has(list[length - 1]!)) length -= 1;
    reads.set(key, list[length - 1]);
  }
  return reads;
}

function addRead(
  { orders }: ObservedHistory,
  { reader, key, version }: VersionRead,
  { findIndex, add }: { readonly findIndex: FindIndex; readonly add: Add },
): void {
  const writer = version === undefined ? undefined : findIndex(key, version);
  if (writer !== undefined) add({ from: writer, to: reader, kind: 'wr', key, element: version! });

  const { elements, positions, unseen } = orders.get(key)!;
  const position = version === undefined ? -1 : positions.get(version);
  // A list that fits into no order is reported on its own.
  if (position === undefined) return;

  const next = elements.slice(position + 1, position + 2);
  for (const element of next.length > 0 ? next : unseen) {
    const to = findIndex(key, element);
    // An intermediate read is reported on its own.
    if (to !== undefined && to !== writer) add({ from: reader, to, kind: 'rw', key, element });
  }
}
