/** What the reads of a history show: which transactions took effect, and in which order per key. */
import type { Element, RecordedTransaction } from './recorded-transaction.ts';

/** The order of the appends to one key. */
export interface VersionOrder {
  /** The longest list that was read, each element once. */
  readonly elements: readonly Element[];
  readonly positions: ReadonlyMap<Element, number>;
  /** Elements of transactions that took effect, which no read shows. They follow `elements`. */
  readonly unseen: readonly Element[];
}

export interface ObservedHistory {
  /** Committed, or unknown but visible to one that took effect. */
  readonly effective: readonly RecordedTransaction[];
  readonly orders: ReadonlyMap<string, VersionOrder>;
  readonly findWriter: (key: string, element: Element) => RecordedTransaction | undefined;
}

type Writers = ReadonlyMap<string, ReadonlyMap<Element, RecordedTransaction>>;

/** @throws Error if two appends add the same element to the same key: nothing could be inferred */
export function observeHistory(history: readonly RecordedTransaction[]): ObservedHistory {
  const writers = indexWriters(history);
  const findWriter: ObservedHistory['findWriter'] = (key, element) =>
    writers.get(key)?.get(element);
  const effective = findEffective(history, findWriter);
  return { effective, orders: orderVersions(effective), findWriter };
}

function indexWriters(history: readonly RecordedTransaction[]): Writers {
  const writers = new Map<string, Map<Element, RecordedTransaction>>();
  for (const transaction of history) {
    for (const operation of transaction.operations) {
      if (!('append' in operation)) continue;
      const [key, element] = operation.append;
      const ofKey = writers.get(key) ?? new Map<Element, RecordedTransaction>();
      writers.set(key, ofKey);

      const other = ofKey.get(element);
      if (other !== undefined) {
        const both = `${other.id} and ${transaction.id}`;
        throw new Error(`history: ${both} append ${element} to ${key}. Append each element once.`);
      }
      ofKey.set(element, transaction);
    }
  }
  return writers;
}

/** An unknown transaction took effect if one that took effect has seen it. */
function findEffective(
  history: readonly RecordedTransaction[],
  findWriter: ObservedHistory['findWriter'],
): RecordedTransaction[] {
  const effective = new Set(history.filter(({ outcome }) => outcome === 'committed'));
  // The loop also visits what it adds.
  for (const { operations } of effective) {
    for (const operation of operations) {
      if (!('read' in operation)) continue;
      const [key, list] = operation.read;
      for (const element of list) {
        const writer = findWriter(key, element);
        if (writer?.outcome === 'unknown') effective.add(writer);
      }
    }
  }
  return [...effective];
}

function orderVersions(effective: readonly RecordedTransaction[]): Map<string, VersionOrder> {
  const longest = new Map<string, readonly Element[]>();
  const appended = new Map<string, Element[]>();
  for (const { operations } of effective) {
    for (const operation of operations) {
      if ('read' in operation) {
        const [key, list] = operation.read;
        if (list.length > (longest.get(key)?.length ?? -1)) longest.set(key, list);
      } else {
        const [key, element] = operation.append;
        const elements = appended.get(key);
        if (elements === undefined) appended.set(key, [element]);
        else elements.push(element);
      }
    }
  }

  const orders = new Map<string, VersionOrder>();
  for (const key of new Set([...longest.keys(), ...appended.keys()])) {
    const elements = [...new Set(longest.get(key))];
    const positions = new Map(elements.map((element, position) => [element, position]));
    const unseen = (appended.get(key) ?? []).filter((element) => !positions.has(element));
    orders.set(key, { elements, positions, unseen });
  }
  return orders;
}
