/** A directory that the version before has written, opened as a start does. */
// @rule ROW-11
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  NodeFiles,
  nodeTiming,
} from '../../../../../../src/server/node/storage/disk/node-files.ts';
import type { SavedSiteState } from '../../../../../../src/server/log/recovered-state.ts';
import { recoverSite } from '../../../../../../src/server/node/storage/recovery.ts';
import type { ConversionProgress } from '../../../../../../src/server/node/storage/rows/convert-checkpoint.ts';
import { LevelRowStores } from '../../../../../../src/server/node/storage/rows/level-row-store.ts';
import {
  openRows,
  type OpenedRows,
} from '../../../../../../src/server/node/storage/rows/open-rows.ts';
import type { SavedRows } from '../../../../../../src/server/service/records/checkpoint.ts';
import { Store } from '../../../../../../src/server/service/state/store.ts';
import { service } from '../../../../../support/all-kinds-service.ts';
import { readOldDirectory } from '../../../../../support/checkpoint-files.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const { tables } = service;
const { files, expected } = readOldDirectory();
const SITES = Object.keys(expected);

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
  for (const [name, bytes] of files) {
    const path = join(dataDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
});

const progress: ConversionProgress[] = [];
let conversions = 0;

function open(site: string): Promise<OpenedRows> {
  const options = {
    files: new NodeFiles(dataDir),
    folder: `sites/${site}`,
    site,
    rows: new LevelRowStores(dataDir, { isHeld: () => true, onLost: () => {} }),
    timing: nodeTiming,
    tables,
    onConvert: () => void (conversions += 1),
    onProgress: (item: ConversionProgress) => void progress.push(item),
  };
  return new Promise((resolve, reject) => {
    openRows(options, (error, opened) => {
      if (opened === undefined) reject(error as Error);
      else resolve(opened);
    });
  });
}

/** The version before has counted the memory of all rows. */
function forgetMemory(smallParts: unknown): unknown {
  const { shared, own } = smallParts as SavedSiteState;
  const { memoryBytes, ...rest } = own;
  expect(memoryBytes).toBeGreaterThan(0);
  return { shared, own: rest };
}

/** All rows of the tables, as operations and scans see them. */
function show(store: Store): unknown {
  const scans = Object.entries(tables).flatMap(([table, { indexes }]) =>
    [{ table }, ...indexes.map((field) => ({ table, field }))].map((range) => [
      ...store.scan(range, false),
    ]),
  );
  return [store.snapshot(), store.getRemovalTimes(), scans];
}

test.each(SITES)('%s has all rows of its last checkpoint, and starts from them', async (site) => {
  progress.length = 0;
  const { store, damages, oldFiles } = await open(site);
  const { sections, smallParts, lastCheckpoint, lengths } = expected[site]!;
  const recovered = recoverSite(new NodeFiles(dataDir), store, `sites/${site}`, site);
  expect(recovered).toMatchObject({ damages: [], lengths, lastCheckpoint, lastCommit: 1 });
  const { checkpoint, rows } = recovered.stored;
  const listed = sections.filter(([name]) => name !== 'rows');
  expect(checkpoint).toEqual({
    sections: Object.fromEntries(listed.map(([name, saved]) => [name, new Map(saved)])),
    smallParts: forgetMemory(smallParts),
  });
  const converted = new Store(tables);
  converted.open(rows as SavedRows);
  const restored = new Store(tables);
  restored.restore(new Map(sections.find(([name]) => name === 'rows')?.[1]));
  expect(show(converted)).toEqual(show(restored));
  const guests = [...converted.scan({ table: 'guests' }, false)].map(({ key }) => key);
  expect(guests).toContain('guest 3');
  expect(guests).not.toContain('bob');
  expect(converted.read('shops', 'us/ohio', 'line')).toMatchObject({ size: 30 });

  expect(damages).toEqual([]);
  expect(oldFiles.map((path) => join(dataDir, path)).toSorted()).toEqual(
    readdirSync(join(dataDir, 'sites', site))
      .filter((name) => name.includes('checkpoint'))
      .map((name) => join(dataDir, 'sites', site, name))
      .toSorted(),
  );
  const { bytes, totalBytes, rowCount } = progress.at(-1)!;
  expect(bytes).toBe(totalBytes);
  expect(rowCount).toBe(sections.reduce((sum, [, saved]) => sum + saved.length, 0));
  await store.close();
});

test('the next start converts nothing, with or without the old files', async () => {
  conversions = 0;
  const { store, oldFiles } = await open('ireland');
  await store.close();
  progress.length = 0;
  expect(conversions).toBe(1);
  const second = await open('ireland');
  expect(second.oldFiles).toEqual(oldFiles);
  await second.store.close();
  for (const path of oldFiles) rmSync(join(dataDir, path));
  const third = await open('ireland');
  expect(third.oldFiles).toEqual([]);
  const recovered = recoverSite(new NodeFiles(dataDir), third.store, 'sites/ireland', 'ireland');
  expect(recovered).toMatchObject({ damages: [], lastCommit: 1 });
  await third.store.close();
  expect([progress, conversions]).toEqual([[], 1]);
});
