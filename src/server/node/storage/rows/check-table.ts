/**
 * Checks one table of a commit: its orders, its rows with their parts, and that they name each
 * other. Entries are compared with an order in large sorted batches, each in one pass over it: a
 * look-up for each would read a chunk for each.
 */
import type { SavedOrders, SavedRows } from '../../../service/records/checkpoint.ts';
import { loadPosition } from '../../../service/records/effect.ts';
import type { Entry } from '../../../service/records/read-range.ts';
import { getIndexedValues } from '../../../service/state/indexed-values.ts';
import { parseRemovalEntry, toRemovalEntry } from '../../../service/state/remembered-removals.ts';
import type { StoredRow } from '../../../service/state/row.ts';
import { getSavedTable } from '../../../service/state/saved-names.ts';
import { nameIndex } from '../../../service/state/table-orders.ts';
import { TableColumns } from '../../../service/state/table-columns.ts';
import type { Table } from '../../../service/tables.ts';
import type { CheckReport } from './check-report.ts';
import { CheckedOrder } from './checked-order.ts';
import { readAllParts, readRow } from './saved-walk.ts';

export interface CheckedTable {
  readonly name: string;
  /** The orders of the commit, with their sizes. */
  readonly orders: SavedOrders;
  readonly saved: SavedRows;
  /** What the service declares. Without it, values of indexes are not compared. */
  readonly declared: Table | undefined;
}

/** So many entries take some tens of megabytes. */
const BATCH_ENTRIES = 200_000;
/** After so many rows, progress is reported. */
const ROWS_PER_STEP = 500;

export class TableCheck {
  readonly #table: CheckedTable;
  readonly #report: CheckReport;
  readonly #columns: TableColumns | undefined;
  readonly #orders: ReadonlyMap<string, CheckedOrder>;
  /** How many entries each order must have by the rows, and those orders that lack some. */
  readonly #expected = new Map<string, number>();
  readonly #lacking = new Set<string>();

  constructor(table: CheckedTable, report: CheckReport) {
    const { name, orders, saved, declared } = table;
    this.#table = table;
    this.#report = report;
    this.#columns = declared && new TableColumns(name, declared);
    this.#orders = new Map(
      Object.entries(orders).map(([order, savedSize]) => {
        const description = `'${order}' of '${name}'`;
        const options = {
          description,
          saved: getSavedTable(saved, name).getOrder(order),
          savedSize,
        };
        return [order, new CheckedOrder(options, report)];
      }),
    );
  }

  /** Checks all. Yields how many entries and rows were checked since the last step. */
  *run(): Generator<number, void, undefined> {
    for (const order of this.#orders.values()) yield* order.check();
    yield* this.#checkRows();
    yield* this.#checkRemovals();
    for (const [name, order] of this.#orders)
      if (name !== 'keys' && name !== 'removals') yield* this.#checkIndex(name, order);
  }

  /** Checks the rows of the order of keys, and that the other orders have their entries. */
  *#checkRows(): Generator<number, void, undefined> {
    const keys = this.#orders.get('keys');
    const batches = new Map([...this.#orders].map(([name]) => [name, [] as Entry[]]));
    let count = 0;
    for (const { key } of keys?.entries() ?? []) {
      for (const [order, entry] of this.#checkRow(key)) {
        const batch = batches.get(order);
        if (batch === undefined) continue;
        batch.push(entry);
        this.#expected.set(order, (this.#expected.get(order) ?? 0) + 1);
        if (batch.length >= BATCH_ENTRIES) this.#compare(order, batch.splice(0));
      }
      count += 1;
      if (count % ROWS_PER_STEP === 0) yield ROWS_PER_STEP;
    }
    for (const [order, batch] of batches) this.#compare(order, batch);
    yield count % ROWS_PER_STEP;
  }

  /** Returns the entries that other orders must have of the row. */
  #checkRow(key: string): readonly (readonly [order: string, entry: Entry])[] {
    const { name, saved } = this.#table;
    return (
      this.#report.try(this.#describe(key), () => {
        const row = readRow(saved, name, key, 'keys');
        for (const _ of readAllParts(saved, { table: name, key, row }));
        const [, , , removedAt = null] = row;
        const entries = this.#listIndexEntries(key, row);
        if (removedAt === null) return entries;
        const removal = toRemovalEntry({ key, ...loadPosition(removedAt) });
        return [...entries, ['removals', removal] as const];
      }) ?? []
    );
  }

  /** Returns the entries of indexes. Throws if the service cannot read the row. */
  #listIndexEntries(key: string, stored: StoredRow): (readonly [order: string, entry: Entry])[] {
    const columns = this.#columns;
    const row = columns?.restoreRow(stored);
    if (columns === undefined || row === undefined) return [];
    const [, , , , firstParts = {}] = stored;
    for (const [{ name }, { parts }] of columns.written(row))
      if (firstParts[name] === undefined) parts?.checkRestored();
    return columns.indexed.flatMap(({ name, position }) => {
      const values = new Set(getIndexedValues(row.states[position]?.read()));
      return [...values].map((value) => [nameIndex(name), { value, key }] as const);
    });
  }

  #compare(order: string, entries: readonly Entry[]): void {
    const checked = this.#orders.get(order);
    if (checked?.isWhole !== true) return;
    for (const { key, value } of checked.findMissing(entries)) {
      this.#lacking.add(order);
      const at = order === 'removals' ? '' : ` at ${JSON.stringify(value)}`;
      const row = order === 'removals' ? parseRemovalEntry({ key, value }).key : key;
      const problem = `is missing in the order '${order}'${at}`;
      this.#report.add(`${this.#describe(row)} ${problem}`);
    }
  }

  /** Checks that each removal is that of its row. */
  *#checkRemovals(): Generator<number, void, undefined> {
    const { name, saved } = this.#table;
    for (const entry of this.#orders.get('removals')?.entries() ?? []) {
      const { key } = parseRemovalEntry(entry);
      this.#report.try(this.#describe(key), () => {
        const [, , , removedAt = null] = readRow(saved, name, key, 'removals');
        const removal = removedAt && toRemovalEntry({ key, ...loadPosition(removedAt) });
        if (removal?.key !== entry.key || removal.value !== entry.value)
          this.#report.add(
            `${this.#describe(key)} was not removed as its order of removals has it`,
          );
      });
    }
    yield this.#table.orders['removals'] ?? 0;
  }

  /** Checks that each entry of an index has its row, with its value if the service is known. */
  *#checkIndex(name: string, order: CheckedOrder): Generator<number, void, undefined> {
    const keys = this.#orders.get('keys');
    if (keys?.isWhole !== true) return;
    let batch: Entry[] = [];
    for (const entry of order.entries()) {
      batch.push(entry);
      if (batch.length < BATCH_ENTRIES) continue;
      this.#checkIndexEntries(name, batch, keys);
      yield batch.length;
      batch = [];
    }
    this.#checkIndexEntries(name, batch, keys);
    yield batch.length;
  }

  #checkIndexEntries(order: string, entries: readonly Entry[], keys: CheckedOrder): void {
    const named = entries.map(({ key }) => ({ value: key, key }));
    const missing = new Set(Array.from(keys.findMissing(named), ({ key }) => key));
    // If the order has all entries of the rows, and no more, then each of its own has its row.
    const isKnown =
      !this.#isDeclared(order) ||
      (!this.#lacking.has(order) && this.#expected.get(order) === this.#table.orders[order]);
    for (const entry of entries) {
      if (missing.has(entry.key)) this.#addUseless(order, entry, 'no row has that key');
      else if (!isKnown && !this.#hasValue(order, entry))
        this.#addUseless(order, entry, 'its row has another value');
    }
  }

  #isDeclared(order: string): boolean {
    return this.#columns?.indexed.some(({ name }) => nameIndex(name) === order) === true;
  }

  /** Whether the row has the value, as far as the row can be read. */
  #hasValue(order: string, { key, value }: Entry): boolean {
    const { name, saved } = this.#table;
    try {
      const entries = this.#listIndexEntries(key, readRow(saved, name, key, 'keys'));
      return entries.some(([other, entry]) => other === order && entry.value === value);
    } catch {
      // That was reported with the row.
      return true;
    }
  }

  #addUseless(order: string, { key, value }: Entry, why: string): void {
    const entry = `an entry of ${JSON.stringify(key)} at ${JSON.stringify(value)}`;
    this.#report.add(`the order '${order}' of '${this.#table.name}' has ${entry}, and ${why}`);
  }

  #describe(key: string): string {
    return `the row ${JSON.stringify(key)} of '${this.#table.name}'`;
  }
}
