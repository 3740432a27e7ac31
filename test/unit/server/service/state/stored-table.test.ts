/** What a store that was opened has in memory, and what it reads. */
// @rule STO-40, STO-43
import { describe, expect, test } from 'vitest';
import {
  createRemoveEffect,
  type Effect,
  type Stamp,
} from '../../../../../src/server/service/records/effect.ts';
import { RED } from '../../../../../src/server/service/records/origin.ts';
import { formatChunkName } from '../../../../../src/server/service/state/saved-names.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import {
  counter,
  queue,
  register,
  table,
  type Tables,
} from '../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../support/origins.ts';
import { SavedMap } from '../../../../support/saved-map.ts';

const TABLES = {
  notes: table(
    { title: register<string>(), count: counter() },
    { indexes: ['title'], removable: true },
  ),
  lines: table({ items: queue<string>() }),
};
const ROWS = 490;
const keyAt = (row: number): string => `row ${String(row).padStart(4, '0')}`;

class Site {
  saved = new SavedMap();
  store = this.#open(this.saved);
  #time = 0;

  apply(effect: Effect): void {
    this.#time += 1;
    const isRed = effect.table === 'lines';
    const entry = isRed ? RED : siteAt(0);
    const stamp: Stamp = {
      time: this.#time,
      site: siteAt(0),
      entry,
      version: this.#time,
      seen: [],
    };
    this.store.apply(effect, stamp);
  }

  write(row: number, title: string): void {
    this.apply({ table: 'notes', key: keyAt(row), field: 'title', action: 'write', value: title });
  }

  push(value: string): void {
    this.apply({ table: 'lines', key: 'q', field: 'items', action: 'push', value });
  }

  /** Returns how many rows the commit has. */
  commit(): number {
    this.store.closeChanges();
    const { savedTables } = this.store;
    const rows = this.store.takeClosed(Infinity);
    this.saved = this.saved.after(rows, savedTables);
    this.store.onCommitted(this.saved);
    return rows.length;
  }

  restart(tables: Tables = TABLES): void {
    this.store = this.#open(this.saved, tables);
  }

  forget(): void {
    this.store.forgetRemovals([this.#time, this.#time, this.#time]);
  }

  #open(saved: SavedMap, tables: Tables = TABLES): Store {
    const store = new Store(tables);
    store.open(saved, { cacheBytes: 20_000, maxChunk: 50 });
    return store;
  }
}

function createSite(): Site {
  const site = new Site();
  for (let row = 0; row < ROWS; row += 1) site.write(row, `title ${row % 7}`);
  return site;
}

describe('a store that was opened', () => {
  test('a start → reads directories, and no row', () => {
    const site = createSite();
    site.commit();
    site.restart();
    // The other orders have no entries.
    expect(site.saved.reads).toBe(2);
    expect(site.store.bytes).toBeLessThan(5_000);
    expect(site.store.read('notes', keyAt(7), 'title')).toBe('title 0');
    expect(site.saved.reads).toBe(3);
  });

  test('rows that have not changed since the commit → leave memory beyond its bound', () => {
    const site = createSite();
    const dirty = site.store.dirtyBytes;
    expect(dirty).toBeGreaterThan(ROWS * 250);
    expect(site.store.bytes).toBe(dirty);
    site.commit();
    expect(site.store.dirtyBytes).toBe(0);
    expect(site.store.bytes).toBeLessThan(30_000);
    for (let row = 0; row < ROWS; row += 1) site.store.read('notes', keyAt(row), 'title');
    expect(site.store.bytes).toBeLessThan(30_000);
    // The last ones are still there.
    const { reads } = site.saved;
    site.store.read('notes', keyAt(ROWS - 1), 'title');
    expect(site.saved.reads).toBe(reads);
  });

  test('rows that have changed → stay, whatever is read', () => {
    const site = createSite();
    site.commit();
    for (let row = 0; row < 200; row += 1) site.write(row, 'new');
    for (let row = 200; row < ROWS; row += 1) site.store.read('notes', keyAt(row), 'title');
    const { reads } = site.saved;
    for (let row = 0; row < 200; row += 1)
      expect(site.store.read('notes', keyAt(row), 'title')).toBe('new');
    expect(site.saved.reads).toBe(reads);
    expect(site.store.dirtyBytes).toBeGreaterThan(200 * 250);
  });

  test('a commit that fails → all of it is in the next one', () => {
    const site = createSite();
    const dirty = site.store.dirtyBytes;
    site.store.closeChanges();
    site.store.takeClosed(100);
    site.write(3, 'new');
    site.store.onCommitFailed();
    expect(site.store.dirtyBytes).toBeGreaterThan(dirty - 100);
    // The rows, and the chunks and directories of two orders.
    expect(site.commit()).toBeGreaterThan(ROWS + 20);
    site.restart();
    expect(site.store.read('notes', keyAt(3), 'title')).toBe('new');
    expect([...site.store.scan({ table: 'notes' }, false)]).toHaveLength(ROWS);
  });

  test('one more row → one chunk and the directory of each order are saved with it', () => {
    const site = createSite();
    site.commit();
    site.write(ROWS, 'title 3');
    expect(site.commit()).toBe(5);
    site.write(ROWS, 'title 3');
    expect(site.commit()).toBe(1);
  });

  test('remembered removals → a start has them without a read of rows, and counts them', () => {
    const site = createSite();
    for (let row = 0; row < 100; row += 1) site.apply(createRemoveEffect('notes', keyAt(row)));
    site.commit();
    const times = site.store.getRemovalTimes();
    site.restart();
    // The directories of a table with an index, and the two chunks of the removals.
    expect(site.saved.reads).toBe(5);
    expect(site.store.getRemovalTimes()).toEqual(times);
    expect(site.store.removalCount).toBe(100);
    site.forget();
    site.commit();
    site.restart();
    expect(site.store.getRemovalTimes()).toEqual([
      ['notes', []],
      ['lines', []],
    ]);
    expect(site.store.has('notes', keyAt(3))).toBe(false);
  });

  test('a queue of many parts → is loaded with its row, and leaves with it', () => {
    const site = createSite();
    for (let row = 0; row < 20; row += 1) site.push(`${row}${'x'.repeat(30_000)}`);
    site.commit();
    for (let pops = 0; pops < 4; pops += 1)
      site.apply({ table: 'lines', key: 'q', field: 'items', action: 'pop' });
    site.commit();
    site.restart();
    const items = site.store.read('lines', 'q', 'items') as { size: number; at(i: number): string };
    expect(items.size).toBe(16);
    expect(items.at(0).startsWith('4x')).toBe(true);
    expect(site.store.bytes).toBeGreaterThan(16 * 30_000);
    for (let row = 0; row < 100; row += 1) site.store.read('notes', keyAt(row), 'title');
    expect(site.store.bytes).toBeLessThan(30_000);
    site.push('last');
    site.commit();
    site.restart();
    expect(site.store.snapshot()).toMatchObject({
      1: ['lines', [['q', [['items', { length: 17 }]]]]],
    });
  });

  test.each([
    ['a row', `notes\u0000${keyAt(3)}`, /the row "row 0003" of 'notes' is missing/],
    ['a part', '\u0000lines\u0000items\u00000\u0000q', /part 0 of 'items' is missing/],
    [
      'a chunk',
      '\u0000\u0000notes\u0000keys\u00000',
      /chunk 0 of the order 'keys' of 'notes' is missing/,
    ],
  ])('%s is missing that another one names → an error that names it', (_, name, message) => {
    const site = createSite();
    site.push('item');
    site.commit();
    const saved = site.saved.without(name);
    const store = new Store(TABLES);
    store.open(saved);
    expect(() => store.snapshot()).toThrow(message);
  });

  test.each(['keys', 'by.title', 'removals'])(
    'the directory of %s is missing → a start finds it (ROW-10)',
    (order) => {
      const site = createSite();
      site.apply(createRemoveEffect('notes', keyAt(0)));
      site.commit();
      const saved = site.saved.without(formatChunkName('notes', order, ''));
      const message = `the order '${order}' of 'notes' has 0 entries, and the last commit has`;
      expect(() => new Store(TABLES).open(saved)).toThrow(message);
    },
  );
});

describe('a service with other indexes than the last commit', () => {
  const WITHOUT_INDEX = {
    ...TABLES,
    notes: table({ title: register<string>(), count: counter() }, { removable: true }),
  };
  const byTitle = ({ store }: Site, equals: string): readonly string[] =>
    [...store.scan({ table: 'notes', field: 'title', from: equals, upTo: equals }, false)].map(
      ({ key }) => key,
    );

  test('a new index → has all rows, also once they are committed', () => {
    const site = createSite();
    site.restart(WITHOUT_INDEX);
    for (let row = 0; row < ROWS; row += 1) site.write(row, `title ${row % 7}`);
    site.commit();
    for (let start = 0; start < 2; start += 1) {
      site.restart();
      expect(byTitle(site, 'title 3')).toEqual(
        Array.from({ length: ROWS / 7 }, (_, row) => keyAt(row * 7 + 3)),
      );
      site.write(3, 'other');
      expect(byTitle(site, 'other')).toEqual([keyAt(3)]);
      site.write(3, 'title 3');
      expect(site.store.bytes).toBeLessThan(start === 0 ? 200_000 : 30_000);
      site.commit();
    }
  });

  test('an index that comes back → has nothing of what it was', () => {
    const site = createSite();
    site.commit();
    site.restart(WITHOUT_INDEX);
    for (let row = 0; row < ROWS; row += 1) site.apply(createRemoveEffect('notes', keyAt(row)));
    site.commit();
    for (let start = 0; start < 2; start += 1) {
      site.restart();
      expect(byTitle(site, 'title 3')).toEqual([]);
      site.commit();
    }
    site.write(3, 'title 3');
    site.commit();
    site.restart();
    expect(byTitle(site, 'title 3')).toEqual([keyAt(3)]);
  });
});
