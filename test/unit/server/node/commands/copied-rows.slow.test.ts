/** Stores of rows that are read while a process commits to them without a pause. */
// @rule STO-25
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openCopiedRows } from '../../../../../src/server/node/commands/copied-rows.ts';
import { PinnedFiles } from '../../../../../src/server/node/commands/pinned-files.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import type { RowReader } from '../../../../../src/server/node/storage/rows/row-store.ts';
import { readCut } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { findWrongHistory, readNumbers } from './committed-rows.ts';

const COPIES = 100;
const MIN_TABLES = 5;

/** Starts the process. It reports each commit that is on the disk. */
function startCommits(folder: string): ChildProcess {
  const program = fileURLToPath(new URL('committing-process.ts', import.meta.url));
  const child = fork(program, [folder], { execArgv: ['--import', 'tsx'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Returns the number of the commit of which the reader shows all rows. */
function checkCommit(reader: RowReader): number {
  const number = readCut(reader)?.number ?? 0;
  expect(readNumbers(reader)).toEqual([number]);
  expect(findWrongHistory(reader, number)).toEqual([]);
  return number;
}

test('a hundred copies beside a process that commits all the time → each has one commit as a whole', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'site/rows');
  mkdirSync(folder, { recursive: true });
  const child = startCommits(folder);
  let reported = 0;
  child.on('message', (number: number) => (reported = number));
  const tables = (): number => readdirSync(folder).filter((name) => name.endsWith('.ldb')).length;
  while (tables() < MIN_TABLES) await once(child, 'message');
  const seen = new Set<number>();
  for (let copy = 0; copy < COPIES; copy += 1) {
    const acknowledged = reported;
    const files = new PinnedFiles(root, ['site']);
    const rows = await openCopiedRows(files, 'site/rows');
    const number = checkCommit(rows.reader);
    expect(number).toBeGreaterThanOrEqual(acknowledged);
    seen.add(number);
    await rows.close();
    files.close();
    await once(child, 'message');
  }
  expect(seen.size).toBe(COPIES);
  child.kill('SIGKILL');
  await once(child, 'exit');
  // No copy has changed a file of the process.
  const store = await LevelRowStore.open(folder);
  expect(checkCommit(store)).toBeGreaterThanOrEqual(reported);
  await store.close();
});
