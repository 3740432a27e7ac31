/** The social network without its page, as a user runs it. */
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/social/headless.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const SOCIAL = await built('demo/social/cli.ts');

test('demo:social --headless --json → users of both layouts have worked, and follows are whole', async () => {
  const { code, stdout, stderr } = await runProgram([
    SOCIAL,
    '--headless',
    '--json',
    '--seconds',
    '4',
  ]);
  expect(code, stderr).toBe(0);
  const { logPerRegion, oneLog, logs, check } = JSON.parse(stdout) as Figures;
  expect(check).toMatchObject({ halfFollows: 0, missedFollows: 0 });
  expect(check.strongReads).toBe(logPerRegion.strongReads.count + oneLog.strongReads.count);
  for (const { operations, strongReads } of [logPerRegion, oneLog]) {
    expect(operations.timeline.count).toBeGreaterThan(operations.post.count);
    for (const { count } of [...Object.values(operations), strongReads])
      expect(count).toBeGreaterThan(0);
  }
  const globals = logs.eu.globals + logs.us.globals;
  expect(globals).toBeGreaterThan(0);
  expect(globals).toBeLessThanOrEqual(logPerRegion.operations.crossFollow.count);
  expect(logs.eu.committed + logs.us.committed).toBeGreaterThan(globals);
  expect(logs.eu.holds + logs.us.holds).toBeGreaterThan(0);
});

test('demo:social --headless → a table, and a summary', async () => {
  const { code, stdout } = await runProgram([SOCIAL, '--headless', '--seconds', '2']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/follow between regions +\d+ ms \/ \d+ ms +\d+ ms \/ \d+ ms/);
  expect(stdout).toMatch(/Each of \d+ strong reads shows whole follows\./);
});

test.each([
  [['--users', '1'], '--users takes an integer from 2'],
  [['--seconds', '0'], '--seconds takes a number from 1'],
  [['--regions', '3'], 'unknown option --regions'],
])('demo:social %j → exit 2, and what is wrong', async (args, message) => {
  const { code, stderr } = await runProgram([SOCIAL, ...args]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
