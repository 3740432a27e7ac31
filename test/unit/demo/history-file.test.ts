/**
 * Histories of runs: written to their file line by line, discarded without one, and failures
 * reported.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openHistory } from '../../../demo/shared/speculation/history-file.ts';
import type { HistoryLine } from '../../../demo/shared/speculation/request.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const line = (request: string): HistoryLine => ({
  request,
  user: '1',
  kind: 'final',
  ads: ['ad-1'],
  atMs: 1,
});

test('lines → in the file before it is closed, one JSON line each', async () => {
  const path = join(temporaryFolder(), 'history.jsonl');
  const history = openHistory(path);
  history.write(line('a'));
  await expect
    .poll(() => readFile(path, 'utf8').catch(() => ''))
    .toBe(`${JSON.stringify(line('a'))}\n`);
  history.write(line('b'));
  await history.close();
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(lines.map((item) => JSON.parse(item) as HistoryLine)).toEqual([line('a'), line('b')]);
});

test('no file → lines go nowhere', async () => {
  const history = openHistory(undefined);
  history.write(line('a'));
  await expect(history.close()).resolves.toBeUndefined();
});

test('a file that cannot be created → reported at the close', async () => {
  const history = openHistory(join(temporaryFolder(), 'not-there', 'history.jsonl'));
  history.write(line('a'));
  await expect(history.close()).rejects.toMatchObject({ code: 'ENOENT' });
});
