/**
 * `npm run demo:kill` in short: a real server, killed under load, loses and repeats nothing that it
 * acknowledged.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseHistory, figuresOf } from '../../demo/kill/history.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KILLS = 3;
const PER_KILL = 100;

test('server killed under load, three times → nothing acknowledged is lost, nothing happens twice', async () => {
  const folder = temporaryFolder();
  const historyPath = join(folder, 'history.jsonl');
  const flags = [
    '--json',
    '--kills',
    String(KILLS),
    '--per-kill',
    String(PER_KILL),
    '--history',
    historyPath,
  ];
  const { code, stdout, stderr } = await runProgram([await built('demo/kill/cli.ts'), ...flags]);
  expect(code, stderr).toBe(0);
  const report = JSON.parse(stdout) as { acknowledged: number; recoveriesMs: number[] };
  const history = parseHistory(await readFile(historyPath, 'utf8'));
  const figures = figuresOf(history);
  expect(report).toMatchObject({ kills: KILLS, ...figures, lost: 0, repeated: 0 });
  expect(figures.acknowledged).toBeGreaterThanOrEqual(KILLS * PER_KILL);
  expect(report.recoveriesMs).toHaveLength(KILLS);
  // Every operation was looked for at every site.
  const sent = history.filter(({ kind }) => kind === 'sent');
  expect(history.filter(({ kind }) => kind === 'found')).toHaveLength(3 * sent.length);
});
