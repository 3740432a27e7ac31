/** Anomalies that a single read shows, with no order of transactions. */
import type { Anomaly, AnomalyName } from './anomaly.ts';
import type { Element, RecordedTransaction } from './recorded-transaction.ts';
import type { ObservedHistory } from './version-orders.ts';

type Report = (name: AnomalyName, explanation: string, ...others: RecordedTransaction[]) => void;

/** One read, with what its transaction did before. */
interface ReadInContext {
  readonly transaction: RecordedTransaction;
  readonly key: string;
  readonly list: readonly Element[];
  readonly report: Report;
}

export function findReadAnomalies(history: ObservedHistory): Anomaly[] {
  const anomalies: Anomaly[] = [];
  const intermediate = indexIntermediate(history.effective);
  for (const transaction of history.effective) {
    const report: Report = (name, explanation, ...others) => {
      const transactions = [transaction, ...others].map(({ id }) => id);
      anomalies.push({ name, transactions, explanation });
    };
    findInternal(transaction, report);
    checkOwnOrder(history, transaction, report);
    for (const operation of transaction.operations) {
      if (!('read' in operation)) continue;
      const [key, list] = operation.read;
      const read = { transaction, key, list, report };
      checkElements(history, read);
      checkLastElement(history, intermediate, read);
      checkPrefix(history, read);
    }
  }
  return [...anomalies, ...findLost(history)];
}

/** The elements of each key that are not the last one which their transaction appends there. */
function indexIntermediate(
  transactions: readonly RecordedTransaction[],
): ReadonlyMap<string, ReadonlySet<Element>> {
  const intermediate = new Map<string, Set<Element>>();
  for (const { operations } of transactions) {
    const last = new Map<string, Element>();
    for (const operation of operations) {
      if (!('append' in operation)) continue;
      const [key, element] = operation.append;
      const before = last.get(key);
      if (before !== undefined)
        intermediate.set(key, (intermediate.get(key) ?? new Set()).add(before));
      last.set(key, element);
    }
  }
  return intermediate;
}

function checkElements({ findWriter }: ObservedHistory, read: ReadInContext): void {
  const { transaction, key, list, report } = read;
  const seen = new Set<Element>();
  for (const element of list) {
    if (seen.has(element)) {
      report(
        'duplicate element',
        `${transaction.id} read ${element} twice in ${format(key, list)}`,
      );
    }
    seen.add(element);

    const writer = findWriter(key, element);
    if (writer === undefined) {
      const what = `${transaction.id} read ${element} in ${format(key, list)}`;
      report('unwritten element', `${what}, which no transaction appended`);
    } else if (writer.outcome === 'aborted') {
      const what = `${transaction.id} read ${element} in ${format(key, list)}`;
      report('G1a', `${what}, an append of ${writer.id}, which was aborted`, writer);
    }
  }
}

function checkLastElement(
  { findWriter }: ObservedHistory,
  intermediate: ReadonlyMap<string, ReadonlySet<Element>>,
  { transaction, key, list, report }: ReadInContext,
): void {
  const last = list.at(-1);
  if (last === undefined || !intermediate.get(key)?.has(last)) return;
  const writer = findWriter(key, last);
  if (writer === undefined || writer === transaction) return;
  const what = `${transaction.id} read ${format(key, list)}`;
  report('G1b', `${what}, but ${writer.id} appended more to ${key} after ${last}`, writer);
}

function checkPrefix(
  { orders }: ObservedHistory,
  { transaction, key, list, report }: ReadInContext,
): void {
  const elements = orders.get(key)?.elements ?? [];
  // Repeated elements are reported on their own.
  const isPrefix = list.every((element, at) => elements[at] === element);
  if (isPrefix || new Set(list).size < list.length) return;
  const what = `${transaction.id} read ${format(key, list)}`;
  report('incompatible orders', `${what}, and another transaction read ${format(key, elements)}`);
}

/**
 * The appends of one transaction to a key are in its order, or the lists show only a part of it.
 */
function checkOwnOrder(
  { orders }: ObservedHistory,
  transaction: RecordedTransaction,
  report: Report,
): void {
  for (const [key, appended] of collectAppends(transaction)) {
    const { elements, positions } = orders.get(key)!;
    const seen = [...appended].map((element) => positions.get(element) ?? Infinity);
    if (seen.every((position, at) => at === 0 || position === Infinity || seen[at - 1]! < position))
      continue;
    const what = `${transaction.id} appended ${[...appended].join(', then ')} to ${key}`;
    report('incompatible orders', `${what}, but the longest read is ${format(key, elements)}`);
  }
}

/** What a transaction knows of a list: all of it after a read, else only its own appends. */
interface KnownList {
  readonly isWhole: boolean;
  readonly elements: readonly Element[];
}

function findInternal(transaction: RecordedTransaction, report: Report): void {
  const known = new Map<string, KnownList>();
  const future = collectAppends(transaction);
  for (const operation of transaction.operations) {
    if ('append' in operation) {
      const [key, element] = operation.append;
      future.get(key)!.delete(element);
      const { isWhole, elements } = known.get(key) ?? { isWhole: false, elements: [] };
      known.set(key, { isWhole, elements: [...elements, element] });
      continue;
    }
    const [key, list] = operation.read;
    const early = list.find((element) => future.get(key)?.has(element));
    if (early !== undefined) {
      const what = `${transaction.id} read ${format(key, list)}`;
      report('internal', `${what} before it appended ${early}`);
    }
    const before = known.get(key);
    if (before !== undefined && !fits(before, list)) {
      const expected = before.isWhole ? 'exactly' : 'a list that ends with';
      const what = `${transaction.id} read ${format(key, list)}`;
      report(
        'internal',
        `${what}, but by its own steps it is ${expected} ${format(key, before.elements)}`,
      );
    }
    known.set(key, { isWhole: true, elements: list });
  }
}

function collectAppends({ operations }: RecordedTransaction): Map<string, Set<Element>> {
  const appends = new Map<string, Set<Element>>();
  for (const operation of operations) {
    if (!('append' in operation)) continue;
    const [key, element] = operation.append;
    appends.set(key, (appends.get(key) ?? new Set()).add(element));
  }
  return appends;
}

function fits({ isWhole, elements }: KnownList, list: readonly Element[]): boolean {
  const from = list.length - elements.length;
  if (from < 0 || (isWhole && from > 0)) return false;
  return elements.every((element, at) => list[from + at] === element);
}

/** Committed appends that no read shows, though a read of the key began after them. */
function findLost({ effective, orders, findWriter }: ObservedHistory): Anomaly[] {
  const latest = new Map<string, RecordedTransaction>();
  for (const transaction of effective) {
    if (transaction.isSnapshot === true) continue;
    for (const operation of transaction.operations) {
      if (!('read' in operation)) continue;
      const [key] = operation.read;
      const other = latest.get(key);
      if (other === undefined || other.startAt < transaction.startAt) latest.set(key, transaction);
    }
  }

  return [...orders].flatMap(([key, { elements, unseen }]) =>
    unseen.flatMap((element): Anomaly[] => {
      const writer = findWriter(key, element)!;
      const reader = latest.get(key);
      const isAfter = reader !== undefined && reader.startAt > writer.endAt;
      if (writer.outcome !== 'committed' || !isAfter) return [];
      const what = `${writer.id} committed an append of ${element} to ${key}`;
      const explanation = `${what}, which no read shows. ${reader.id} began later, and the longest read is ${format(key, elements)}`;
      return [{ name: 'lost append', transactions: [writer.id, reader.id], explanation }];
    }),
  );
}

const MAX_SHOWN = 12;

/** Shows the end of a long list, where reads differ. */
function format(key: string, list: readonly Element[]): string {
  const hidden = list.length > MAX_SHOWN ? '…, ' : '';
  return `${key} = [${hidden}${list.slice(-MAX_SHOWN).join(', ')}]`;
}
