/** The stores of rows on a simulated disk, which share the fate of the files beside them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { isFenced, isNoSpace } from '../../../../src/server/node/storage/disk/files.ts';
import type { RowReader, RowStore } from '../../../../src/server/node/storage/rows/row-store.ts';
import { SimulatedDisk } from '../../../../src/testing/simulator/disk/disk.ts';
import { Timeline } from '../../../../src/testing/simulator/timeline.ts';
import { startCommit } from '../../../row-stores/commit.ts';

const FOLDER = 'site/rows';
const KEY = Buffer.from('key');

let timeline: Timeline;
let disk: SimulatedDisk;
beforeEach(() => {
  timeline = new Timeline();
  disk = createDisk(1);
});

const createDisk = (seed: number): SimulatedDisk =>
  new SimulatedDisk({
    timeline,
    random: new Random(seed),
    rowRandom: new Random(seed),
    syncMeanMs: 5,
  });

const pass = (ms = 1000): void => timeline.run(timeline.nowMs + ms);

const read = (reader: RowReader | undefined): string | undefined => {
  const value = reader?.get(KEY);
  return value && Buffer.from(value).toString();
};

/** Commits a value, and returns what was reported by the time that the commit has ended. */
function commit(store: RowStore, value: string): readonly (Error | undefined)[] {
  const reported: (Error | undefined)[] = [];
  const puts = [[KEY, Buffer.from(value)]] as const;
  startCommit(store, { puts, removals: [] }, (error) => reported.push(error));
  pass();
  return reported;
}

describe('a store of rows', () => {
  test('moves with its folder, once it is closed', () => {
    const files = disk.mount();
    const store = disk.rows.openNow(FOLDER);
    commit(store, 'value');
    expect(() => files.moveDirectory('site', 'moved')).toThrow('is still open');
    void store.close();
    files.moveDirectory('site', 'moved');
    expect(files.list('moved')).toEqual(['rows']);
    expect(read(disk.rows.openNow('moved/rows'))).toBe('value');
  });

  test('is removed with its folder, and a crash may bring back all or a part of it', () => {
    const found = new Set<string | undefined>();
    for (let seed = 1; seed < 40; seed += 1) {
      disk = createDisk(seed);
      const files = disk.mount();
      const store = disk.rows.openNow(FOLDER);
      commit(store, 'value');
      void store.close();
      files.remove('site');
      expect(files.list('site')).toEqual([]);
      disk.crash();
      found.add(disk.rows.folders.length === 0 ? 'gone' : read(disk.rows.openNow(FOLDER)));
    }
    expect(found).toEqual(new Set(['gone', 'value', undefined]));
  });

  test('commits nothing while the disk is full, and goes on afterwards', () => {
    disk.mount();
    const store = disk.rows.openNow(FOLDER);
    disk.isFull = true;
    const [error] = commit(store, 'value');
    expect(error && isNoSpace(error)).toBe(true);
    expect(read(store)).toBeUndefined();
    disk.isFull = false;
    expect(commit(store, 'value')).toEqual([undefined]);
    expect(read(store)).toBe('value');
  });

  test('commits nothing once another process has the disk, and says so', () => {
    disk.mount();
    const store = disk.rows.openNow(FOLDER);
    disk.depose();
    const [error] = commit(store, 'value');
    expect(error && isFenced(error)).toBe(true);
    disk.crash();
    expect(read(disk.rows.getReader(FOLDER))).toBeUndefined();
  });

  test('loses or keeps a commit that is not synced, as the crash of its disk falls', () => {
    const found = new Set<string | undefined>();
    for (let seed = 1; seed < 40; seed += 1) {
      disk = createDisk(seed);
      disk.mount();
      const store = disk.rows.openNow(FOLDER);
      let reported = 0;
      const puts = [[KEY, Buffer.from('value')]] as const;
      startCommit(store, { puts, removals: [] }, () => (reported += 1));
      for (let ms = 0; read(store) === undefined && ms < 1000; ms += 1) pass(1);
      if (reported > 0) continue;
      disk.crash();
      pass();
      expect(reported).toBe(0);
      found.add(read(disk.rows.getReader(FOLDER)));
    }
    expect(found).toEqual(new Set(['value', undefined]));
  });

  test('comes back with the files of a copy', () => {
    const files = disk.mount();
    const store = disk.rows.openNow(FOLDER);
    commit(store, 'old');
    files.createNow('site/1.log', 3);
    const content = disk.copyContent();
    commit(store, 'new');
    disk.crash();
    disk.putContent(content);
    expect(disk.mount().list('site').toSorted()).toEqual(['1.log', 'rows']);
    expect(read(disk.rows.openNow(FOLDER))).toBe('old');
  });
});
