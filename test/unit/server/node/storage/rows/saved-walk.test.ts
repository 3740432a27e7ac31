/** A walk reads all rows of a commit as a checkpoint has them, and notices what is missing. */
// @rule STO-43
import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredRow } from '../../../../../../src/server/service/state/row.ts';
import { Store } from '../../../../../../src/server/service/state/store.ts';
import {
  formatChunkName,
  formatPartName,
} from '../../../../../../src/server/service/state/saved-names.ts';
import { getRowKey } from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { walkSaved } from '../../../../../../src/server/node/storage/rows/saved-walk.ts';
import { SavedSite, TABLES, takeAll } from './saved-site.ts';

let site: SavedSite;
beforeEach(() => {
  site = new SavedSite();
});

/** Where a queue is cut into parts depends on what has left memory before. */
const isPart = (name: string): boolean => name.startsWith(formatPartName('', '')[0] as string);

/** Returns the rows without parts, in the order of names. What a row leaves out is `null`. */
function pickRows(rows: ReadonlyMap<string, unknown>): unknown {
  const picked = [...rows].flatMap(([name, saved]) => {
    const [fields, writtenAt = null, isRed = false, removedAt = null, ...others] =
      saved as StoredRow;
    return isPart(name) ? [] : [[name, fields, writtenAt, isRed, removedAt, ...others] as const];
  });
  return picked.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe('a walk over a commit', () => {
  test('yields the rows that a checkpoint of the same state has', () => {
    const { plain, listed } = site;
    const walked = [...walkSaved(site.commit())];
    const rows = new Map(
      walked.flatMap(({ section, name, value }) => (section === 'rows' ? [[name, value]] : [])),
    );
    const own = walked.filter(({ section }) => section === 'own.slots');
    expect(new Map(own.map(({ name, value }) => [name, value]))).toEqual(listed);
    expect(rows.size + own.length).toBe(walked.length);
    expect(pickRows(rows)).toEqual(pickRows(takeAll(plain)));
    expect([...rows.keys()].filter(isPart).length).toBeGreaterThan(9);
    const restored = new Store(TABLES);
    restored.restore(rows);
    expect(restored.snapshot()).toEqual(plain.snapshot());
    expect(restored.getRemovalTimes()).toEqual(plain.getRemovalTimes());
    expect(restored.bytes).toBe(plain.bytes);
  });

  test('goes on from each cursor with the remaining rows, also once others are committed', () => {
    const held = site.commit();
    const walked = [...walkSaved(held)];
    for (let step = 0; step < 50; step += 1) site.change();
    site.commit();
    for (const [place, { next }] of walked.entries()) {
      const cursor = JSON.parse(JSON.stringify(next)) as typeof next;
      const remaining = [...walkSaved(held, cursor)].map(({ section, name }) => [section, name]);
      const expected = walked.slice(place + 1).map(({ section, name }) => [section, name]);
      expect(remaining).toEqual(expected);
    }
  });

  test('throws if any row or part that it yields is missing or damaged', () => {
    const { disk } = site;
    const { cut } = site.commit();
    const names = [...walkSaved({ cut, reader: disk.open() })];
    for (const { section, name } of names) {
      const key = getRowKey(section, name);
      const kept = disk.open().get(key) as Uint8Array;
      disk.lose(key);
      expect(() => [...walkSaved({ cut, reader: disk.open() })]).toThrow(/is missing/);
      site.putBytes(key, kept);
      disk.flip(key, 40);
      expect(() => [...walkSaved({ cut, reader: disk.open() })]).toThrow(/is damaged/);
      site.putBytes(key, kept);
    }
    expect(names.some(({ name }) => name.startsWith(formatPartName('kept', '')))).toBe(true);
  });

  test('throws if a chunk is missing', () => {
    const { cut, reader } = site.commit();
    const isThere = (number: number): boolean => reader.get(getChunkKey(number)) !== undefined;
    const number = Array.from({ length: 1000 }, (_, at) => at).findIndex(isThere);
    site.disk.lose(getChunkKey(number));
    expect(() => [...walkSaved({ cut, reader: site.disk.open() })]).toThrow(/chunk .* is missing/);
  });

  test.each([
    ['keys', 'rows', formatChunkName('kept', 'keys', '')],
    ['removals', 'rows', formatChunkName('notes', 'removals', '')],
    ['names', 'names.own.slots', ''],
  ])('throws if the directory of %s is missing (ROW-10)', (_, section, name) => {
    const { cut } = site.commit();
    site.disk.lose(getRowKey(section, name));
    const message = /has 0 entries, and the last commit has/;
    expect(() => [...walkSaved({ cut, reader: site.disk.open() })]).toThrow(message);
  });
});

function getChunkKey(number: number): Uint8Array {
  return getRowKey('rows', formatChunkName('kept', 'keys', String(number)));
}
