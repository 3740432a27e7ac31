/**
 * A database that refuses all writes after an error of the disk is opened again, and can be read
 * meanwhile.
 */
// @rule STO-11
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { LevelRowStore } from '../../../../../../src/server/node/storage/rows/level-row-store.ts';
import type { RowReader } from '../../../../../../src/server/node/storage/rows/row-store.ts';
import { commit, type BatchChanges } from '../../../../../row-stores/commit.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const put = (key: string, value: string): BatchChanges => ({
  puts: [[bytes(key), bytes(value)]],
  removals: [],
});
const read = (reader: RowReader, key: string): string | undefined => {
  const value = reader.get(bytes(key));
  return value && Buffer.from(value).toString();
};

let folder: string;
let store: LevelRowStore;
beforeEach(async () => {
  folder = join(temporaryFolder(), 'rows');
  store = await LevelRowStore.open(folder);
  await commit(store, put('a', 'first'));
  return () => store.close();
});

/** The next batch fails as on a disk that was full for a moment. */
async function failOnce(): Promise<void> {
  const other = new ClassicLevel(join(temporaryFolder(), 'other'));
  await other.open();
  const batches = Object.getPrototypeOf(other.batch()) as { write(): Promise<void> };
  await other.close();
  const failing = vi.spyOn(batches, 'write').mockImplementationOnce(() => {
    const cause = new Error('IO error: 000009.ldb: No space left on device');
    return Promise.reject(new Error('Batch failed', { cause }));
  });
  onTestFinished(() => failing.mockRestore());
}

async function failCommit(): Promise<void> {
  await failOnce();
  await expect(commit(store, put('b', 'lost'))).rejects.toMatchObject({ code: 'ENOSPC' });
}

test('the next commit opens it again, and all can be read at any moment', async () => {
  await failCommit();
  const snapshot = store.openSnapshot();
  let isDone = false;
  const hasEnded = (): boolean => isDone;
  const done = commit(store, put('c', 'third')).then(() => (isDone = true));
  const seen = new Set<string>();
  let hasCopy = false;
  while (!hasEnded()) {
    hasCopy ||= existsSync(`${folder}.copy`);
    seen.add(`${read(store, 'a')} ${read(store, 'b')} ${read(snapshot, 'a')}`);
    await nextTurn();
  }
  await done;
  expect([...seen]).toEqual(['first undefined first']);
  expect(hasCopy).toBe(true);
  expect(existsSync(`${folder}.copy`)).toBe(false);
  expect([read(store, 'c'), read(snapshot, 'c')]).toEqual(['third', undefined]);
  snapshot.close();
  await store.close();
  store = await LevelRowStore.open(folder);
  expect(['a', 'b', 'c'].map((key) => read(store, key))).toEqual(['first', undefined, 'third']);
});

test('many tables → the copy has links to them, and the store has its own in the end', async () => {
  for (let round = 0; round < 6; round += 1) {
    const puts = Array.from({ length: 1500 }, (_, at) => {
      const noise = Array.from({ length: 1000 }, () => Math.random() * 256);
      return [bytes(`${round} ${at}`), Uint8Array.from(noise)] as const;
    });
    await commit(store, { puts, removals: [] });
  }
  expect(readdirSync(folder).filter((name) => name.endsWith('.ldb')).length).toBeGreaterThan(0);
  await failCommit();
  await commit(store, put('c', 'third'));
  for (let round = 0; round < 6; round += 1)
    for (let at = 0; at < 1500; at += 100)
      expect(store.get(bytes(`${round} ${at}`))).toHaveLength(1000);
});

describe('a reader of an earlier commit', () => {
  test('holds it up, and goes on', async () => {
    const earlier = store.openSnapshot();
    await commit(store, put('a', 'second'));
    await failCommit();
    await expect(commit(store, put('c', 'third'))).rejects.toMatchObject({
      code: 'ENOSPC',
      message: expect.stringContaining('once a transfer or a backup ends'),
    });
    expect([read(earlier, 'a'), read(store, 'a')]).toEqual(['first', 'second']);
    earlier.close();
    await commit(store, put('c', 'third'));
    expect(read(store, 'c')).toBe('third');
  });
});

test('closed while it is opened again → it can be opened at once', async () => {
  await failCommit();
  void commit(store, put('c', 'third')).catch(() => {});
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  await store.close();
  store = await LevelRowStore.open(folder);
  expect(read(store, 'a')).toBe('first');
  expect(existsSync(`${folder}.copy`)).toBe(false);
});
