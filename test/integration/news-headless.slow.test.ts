/** The news without their page, as a user runs it. */
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/news/headless.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const NEWS = await built('demo/news/cli.ts');

test('demo:news --headless --json → causal order was kept, and plain copies broke it', async () => {
  const { code, stdout, stderr } = await runProgram([
    NEWS,
    '--headless',
    '--json',
    '--conversations',
    '2',
  ]);
  expect(code, stderr).toBe(0);
  const { frontPage, wrongReads, moves, ...figures } = JSON.parse(stdout) as Figures;
  expect(figures).toMatchObject({ conversations: 2, isInOrder: true });
  expect(frontPage.cacheMs.p50).toBeLessThan(frontPage.strongMs.p50 as number);
  expect(wrongReads.causal).toBe(0);
  expect(wrongReads.copies).toBeGreaterThan(0);
  expect(moves.ownMissing.causal).toBe(0);
});

test('demo:news --headless → a report with a verdict', async () => {
  const { code, stdout } = await runProgram([NEWS, '--headless', '--conversations', '1']);
  expect(code).toBe(0);
  expect(stdout).toContain('Verdict: causal order was kept.');
});

test('demo:news with a wrong flag → exit 2, and what is wrong', async () => {
  const { code, stderr } = await runProgram([NEWS, '--delays', 'long']);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--delays takes one of'),
  });
});
