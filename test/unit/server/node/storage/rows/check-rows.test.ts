/** A check of a commit finds whatever is missing, damaged or named in vain (ROW-10, ROW-14). */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Entry } from '../../../../../../src/server/service/records/read-range.ts';
import { parseRemovalEntry } from '../../../../../../src/server/service/state/remembered-removals.ts';
import {
  createCutEntry,
  getRowKey,
  type SavedCut,
} from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { checkRows } from '../../../../../../src/server/node/storage/rows/check-rows.ts';
import type { CheckResult } from '../../../../../../src/server/node/storage/rows/check-report.ts';
import {
  openOrder,
  walkSaved,
  type WalkedRow,
} from '../../../../../../src/server/node/storage/rows/saved-walk.ts';
import { formatChunkName } from '../../../../../../src/server/service/state/saved-names.ts';
import { SavedSite, TABLES } from './saved-site.ts';

/** Comes after all values that the site has. */
const LAST = '\uffff\uffff';

let site: SavedSite;
let cut: SavedCut;
let walked: WalkedRow[];
beforeEach(() => {
  site = new SavedSite();
  cut = site.commit().cut;
  walked = [...walkSaved(site.commit())];
});

function check(tables?: typeof TABLES, maxProblems = 100): CheckResult {
  const steps = checkRows({ cut, reader: site.disk.open() }, { tables, maxProblems });
  let last = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    expect(step.value.checked).toBeGreaterThanOrEqual(last);
    expect(step.value.checked).toBeLessThanOrEqual(step.value.total);
    last = step.value.checked;
  }
}

describe('a check of a commit', () => {
  test('finds nothing in one that is whole, with the service and without', () => {
    expect(check()).toEqual({ problems: [], problemCount: 0 });
    expect(check(TABLES)).toEqual({ problems: [], problemCount: 0 });
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'finds nothing after commits that failed, whatever has changed since (seed %i)',
    (seed) => {
      site = new SavedSite(seed);
      for (let round = 0; round < 6; round += 1) {
        site.disk.isFull = round % 2 === 0;
        for (let step = 0; step < 20 * seed; step += 1) site.change();
        site.setListed(`listed ${round}`, 'new');
        site.tryCommit()?.release();
      }
      ({ cut } = site.commit());
      expect(site.failures).toHaveLength(3);
      expect(check(TABLES)).toEqual({ problems: [], problemCount: 0 });
    },
  );

  test('row-missing, checks-no-parts: finds each row and part that is missing', () => {
    expect(walked.some(({ next }) => next.count > 1)).toBe(true);
    for (const { section, name } of walked) {
      const key = getRowKey(section, name);
      const bytes = site.disk.open().get(key) as Uint8Array;
      site.disk.lose(key);
      const { problems, problemCount } = check();
      expect(problems.join('\n')).toMatch(/^(the row|part \d+ of) .* is missing/);
      // A row that was removed before is named by two orders.
      expect(problemCount).toBeLessThanOrEqual(2);
      site.putBytes(key, bytes);
    }
  });

  test('crc-without-key: finds each row that has the bytes of another one', () => {
    const rows = walked.filter(({ section, next }) => section === 'rows' && next.count === 1);
    for (const [place, { section, name }] of rows.entries()) {
      const key = getRowKey(section, name);
      const other = rows[(place + 1) % rows.length] as WalkedRow;
      const [bytes, otherBytes] = [name, other.name].map(
        (row) => site.disk.open().get(getRowKey(section, row)) as Uint8Array,
      );
      site.putBytes(key, otherBytes as Uint8Array);
      expect(check().problems.join('\n')).toMatch(/the row .* of .*: the entry \w+ is damaged/);
      site.putBytes(key, bytes as Uint8Array);
    }
  });

  test.each(
    Object.entries(TABLES).flatMap(([table, { indexes }]) =>
      ['keys', 'removals', ...indexes.map((index) => `by.${index}`)].map(
        (order) => [table, order] as const,
      ),
    ),
  )('%s, %s: finds a chunk or a directory that is missing or damaged', (table, order) => {
    if (cut.tables[table]?.[order] === 0) return;
    for (const chunk of ['', ...listChunks(table, order)]) {
      const key = getRowKey('rows', formatChunkName(table, order, chunk));
      const bytes = site.disk.open().get(key) as Uint8Array;
      site.disk.lose(key);
      const { problems, problemCount } = check(TABLES);
      expect(problems.join('\n')).toContain(`the order '${order}' of '${table}'`);
      expect(problemCount).toBe(1);
      site.putBytes(key, bytes);
      site.disk.flip(key, 50);
      expect(check(TABLES).problems.join('\n')).toMatch(/is damaged/);
      site.putBytes(key, bytes);
    }
  });

  test('finds an entry of an index without a row, also without the service', () => {
    changeOrder('notes', 'by.title', (entries) => [...entries, [LAST, 'no such row']]);
    const problem = `the order 'by.title' of 'notes' has an entry of "no such row" at "${LAST}", and no row has that key`;
    expect(check().problems).toEqual([problem]);
    expect(check(TABLES).problems).toEqual([problem]);
  });

  test('finds an entry of an index with another value than its row, with the service', () => {
    const [row] = listEntries('notes', 'keys');
    changeOrder('notes', 'by.title', (entries) => [...entries, [LAST, row?.key]]);
    expect(check().problems).toEqual([]);
    expect(check(TABLES).problems).toEqual([
      `the order 'by.title' of 'notes' has an entry of ${JSON.stringify(row?.key)} at "${LAST}", and its row has another value`,
    ]);
  });

  test('finds a row that an index lacks, with the service', () => {
    changeOrder('notes', 'by.title', (entries) => entries.slice(0, -1));
    expect(check().problems).toEqual([]);
    expect(check(TABLES).problems.join('\n')).toMatch(
      /^the row ".*" of 'notes' is missing in the order 'by.title' at ".*"$/,
    );
  });

  test('finds a row that the order of keys lacks', () => {
    changeOrder('notes', 'keys', (entries) => entries.slice(0, -1));
    expect(check().problems.join('\n')).toMatch(/and no row has that key/);
  });

  test('finds a removal that the row or the order lacks', () => {
    const existing = new Set(listEntries('notes', 'keys').map(({ key }) => key));
    const removals = listEntries('notes', 'removals').map((entry) => parseRemovalEntry(entry).key);
    const place = removals.findIndex((key) => existing.has(key));
    changeOrder('notes', 'removals', (entries) => entries.toSpliced(place, 1));
    const row = `the row ${JSON.stringify(removals[place])} of 'notes'`;
    expect(check().problems).toEqual([`${row} is missing in the order 'removals'`]);
    changeOrder('notes', 'removals', (entries) => [...entries, [10_000, '1 2 1 no such row']]);
    expect(check().problems.join('\n')).toMatch(/the row "no such row" of 'notes' is missing/);
  });

  test('finds entries that are not in their order', () => {
    changeOrder('notes', 'by.title', (entries) => [...entries, ['', 'a']]);
    expect(check().problems.join('\n')).toMatch(/, which is not its order/);
  });

  test('describes a bounded number of problems, and counts all', () => {
    for (const { section, name } of walked) site.disk.lose(getRowKey(section, name));
    const { problems, problemCount } = check(TABLES, 3);
    expect(problems).toHaveLength(3);
    expect(problemCount).toBeGreaterThan(20);
  });

  function listChunks(table: string, order: string): string[] {
    const name = formatChunkName(table, order, '');
    const reader = site.disk.open();
    const isThere = (number: number): boolean =>
      reader.get(getRowKey('rows', `${name}${number}`)) !== undefined;
    return Array.from({ length: 1000 }, (_, number) => number)
      .filter(isThere)
      .map(String);
  }

  function listEntries(table: string, order: string): Entry[] {
    return [...openOrder({ cut, reader: site.disk.open() }, table, order).scan({ table: '' })];
  }

  /** Replaces an order by another one, which is whole. */
  function changeOrder(
    table: string,
    order: string,
    change: (entries: readonly unknown[]) => readonly unknown[],
  ): void {
    const entries = change(
      listEntries(table, order).map(({ value, key }) => (value === key ? key : [value, key])),
    );
    const toKey = (chunk: string): Uint8Array =>
      getRowKey('rows', formatChunkName(table, order, chunk));
    site.put(toKey(''), [2, [[1, entries.length, entries[0]]]]);
    site.put(toKey('1'), entries);
    const orders = { ...cut.tables[table], [order]: entries.length };
    cut = { ...cut, tables: { ...cut.tables, [table]: orders } };
    site.putBytes(...createCutEntry(cut));
  }
});
