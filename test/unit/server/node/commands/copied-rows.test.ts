/** A store of rows that is read from a copy, which leaves the store as it is. */
// @rule STO-25
// @rule STO-36
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  openCopiedRows,
  type CopiedRows,
} from '../../../../../src/server/node/commands/copied-rows.ts';
import { PinnedFiles } from '../../../../../src/server/node/commands/pinned-files.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import { commit } from '../../../../row-stores/commit.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const FOLDER = 'site/rows';
const ROWS = 200;
/** Several such commits are more than LevelDB keeps without a table. */
const COMMITS = 40;

let root: string;
beforeEach(() => {
  root = temporaryFolder();
  fs.mkdirSync(join(root, 'site'));
  // Whatever a copy leaves is in here.
  vi.stubEnv('TMPDIR', temporaryFolder());
  return () => {
    vi.unstubAllEnvs();
  };
});

const pathOf = (name: string): string => join(root, FOLDER, name);
const keyOf = (row: number): Uint8Array => Buffer.from(`row ${row}`);

async function commitRows(store: LevelRowStore, value: number): Promise<void> {
  const bytes = Buffer.alloc(1000, value);
  const puts = Array.from({ length: ROWS }, (_, row) => [keyOf(row), bytes] as const);
  await commit(store, { puts, removals: [] });
}

async function writeStore(): Promise<void> {
  const store = await LevelRowStore.open(join(root, FOLDER));
  for (let value = 1; value <= COMMITS; value += 1) await commitRows(store, value);
  await store.close();
}

function pin(): PinnedFiles {
  const files = new PinnedFiles(root, ['site']);
  onTestFinished(() => files.close());
  return files;
}

/** Returns the distinct values of the rows. */
async function readValues(files: PinnedFiles): Promise<readonly unknown[]> {
  const rows = await openCopiedRows(files, FOLDER);
  const values = Array.from({ length: ROWS }, (_, row) => rows.reader.get(keyOf(row))?.[0]);
  await rows.close();
  return [...new Set(values)];
}

const listCopies = (): readonly string[] => fs.readdirSync(tmpdir());

function photograph(): readonly unknown[] {
  return fs.readdirSync(join(root, FOLDER)).map((name) => {
    const { mtimeMs, ctimeMs, ino } = fs.statSync(pathOf(name));
    return [name, mtimeMs, ctimeMs, ino, fs.readFileSync(pathOf(name), 'base64')];
  });
}

const isRefused = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringMatching(message) });

test('a store → its rows, no change of its files, and no temporary folder', async () => {
  await writeStore();
  const before = photograph();
  expect(await readValues(pin())).toEqual([COMMITS]);
  expect([photograph(), listCopies()]).toEqual([before, []]);
});

test('no store → no rows', async () => {
  expect(await readValues(pin())).toEqual([undefined]);
});

test('all files are removed after they were pinned → the rows of then', async () => {
  await writeStore();
  const files = pin();
  fs.rmSync(join(root, FOLDER), { recursive: true });
  expect(await readValues(files)).toEqual([COMMITS]);
});

test('a system without links to open files → the tables are copied', async () => {
  await writeStore();
  const files = pin();
  vi.spyOn(files, 'getLinkTarget').mockReturnValue(undefined);
  expect(await readValues(files)).toEqual([COMMITS]);
});

test('a process is writing the next tables → they are not overwritten', async () => {
  await writeStore();
  const numbers = fs.readdirSync(join(root, FOLDER)).map((name) => Number.parseInt(name, 10) || 0);
  const last = Math.max(...numbers);
  const next = Array.from({ length: 5 }, (_, index) => `${last + 1 + index}`.padStart(6, '0'));
  for (const number of next) fs.writeFileSync(pathOf(`${number}.ldb`), 'not complete');
  const before = photograph();
  expect(await readValues(pin())).toEqual([COMMITS]);
  expect(photograph()).toEqual(before);
});

test('the last commit is cut off in the log of the store → the one before', async () => {
  const store = await LevelRowStore.open(join(root, FOLDER));
  await commitRows(store, 1);
  await commitRows(store, 2);
  const log = fs.readdirSync(join(root, FOLDER)).find((name) => name.endsWith('.log')) as string;
  const bytes = fs.readFileSync(pathOf(log));
  await store.close();
  for (const length of [bytes.length - 1, bytes.length - 40_000]) {
    fs.writeFileSync(pathOf(log), bytes.subarray(0, length));
    expect(await readValues(pin())).toEqual([1]);
  }
});

test.each([
  ['a manifest with other bytes', /^MANIFEST/, (path: string) => fs.writeFileSync(path, 'damaged')],
  ['a table that is gone', /\.ldb$/, (path: string) => fs.rmSync(path)],
])('%s → an error, and no temporary folder', async (_, name, change) => {
  await writeStore();
  const found = fs.readdirSync(join(root, FOLDER)).find((item) => name.test(item));
  change(pathOf(found as string));
  await expect(readValues(pin())).rejects.toThrow(/orruption|missing files|failed to open/);
  expect(listCopies()).toEqual([]);
});

test('the temporary folder does not exist → UNAVAILABLE, and what to do', async () => {
  await writeStore();
  vi.stubEnv('TMPDIR', join(root, 'absent'));
  await expect(readValues(pin())).rejects.toEqual(isRefused(/ENOENT.*Set TMPDIR/));
});

test('folders that killed processes have left → removed, and those of running ones stay', async () => {
  await writeStore();
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const here = [ended, process.ppid].map((pid) => `correctables-rows-${hostname()}-${pid}-Abc123`);
  const others = [
    `correctables-rows-elsewhere-${ended}-Abc123`,
    `other-${hostname()}-${ended}-Abc123`,
  ];
  const names = [...here, ...others];
  for (const name of names) {
    fs.mkdirSync(join(tmpdir(), name));
    fs.writeFileSync(join(tmpdir(), name, 'CURRENT'), 'MANIFEST-000001');
  }
  expect(await readValues(pin())).toEqual([COMMITS]);
  expect(listCopies().toSorted()).toEqual(names.slice(1).toSorted());
});

test('the process ends while a copy is open → the copy is removed', async () => {
  await writeStore();
  const rows: CopiedRows = await openCopiedRows(pin(), FOLDER);
  expect(listCopies()).toHaveLength(1);
  const removeAll = process.listeners('exit').at(-1) as () => void;
  removeAll();
  expect(listCopies()).toEqual([]);
  await rows.close();
  expect(process.listeners('exit')).not.toContain(removeAll);
});
