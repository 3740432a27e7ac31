/** The bank without its page, as a user runs it. */
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/bank/headless.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const BANK = await built('demo/bank/cli.ts');

test.each(['1', '2'])('demo:bank --headless --json --partitions %s → the total has not changed', async (partitions) => {
  const args = ['--headless', '--json', '--transfers', '20', '--partitions', partitions];
  const { code, stdout, stderr } = await runProgram([BANK, ...args]);
  expect(code, stderr).toBe(0);
  const figures = JSON.parse(stdout) as Figures;
  const { committed, refused, conflicts, unknown, takenBack, tentativeMs, strongMs } = figures;
  expect(committed + refused + conflicts + unknown).toBe(40);
  expect(figures).toMatchObject({ transfers: 40, unknown: 0, total: { before: 400, after: 400, changed: 0 } });
  expect(figures.total.reads).toBeGreaterThan(0);
  // How many of the five depends on how busy the machine is.
  expect(takenBack).toBeGreaterThan(0);
  expect(tentativeMs.p50).toBeLessThan(strongMs.p50 as number);
});

test('demo:bank --figures → the balances of the figures of the RedBlue paper', async () => {
  const { code, stdout } = await runProgram([BANK, '--figures']);
  expect(code).toBe(0);
  expect(stdout).toContain('126.00 in Europe, 125.00 in the United States');
  expect(stdout).toContain('-5.00 in Europe, -5.00 in the United States');
});

test.each([
  [['--transfers', '0'], '--transfers takes an integer from 1'],
  [['--delays', 'long'], '--delays takes one of slow, measured'],
  [['--tellers', '3'], 'unknown option --tellers'],
])('demo:bank %j → exit 2, and what is wrong', async (args, message) => {
  const { code, stderr } = await runProgram([BANK, ...args]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
