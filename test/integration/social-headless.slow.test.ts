/** The social network without its page, as a user runs it. */
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/social/headless.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const SOCIAL = await built('demo/social/cli.ts');

test('demo:social --headless --json → follows are whole, and a log near its users is faster', async () => {
  const { code, stdout, stderr } = await runProgram([SOCIAL, '--headless', '--json', '--seconds', '4']);
  expect(code, stderr).toBe(0);
  const { logPerRegion, oneLog, logs, check } = JSON.parse(stdout) as Figures;
  expect(check).toMatchObject({ halfFollows: 0, missedFollows: 0 });
  expect(check.strongReads).toBeGreaterThan(0);
  const { post, localFollow, crossFollow, timeline } = logPerRegion.operations;
  for (const [near, far] of [
    [post, oneLog.operations.post],
    [localFollow, crossFollow],
    [timeline, post],
  ] as const)
    expect(near.p50).toBeLessThan(far.p50 as number);
  for (const { committed, globals, holds } of Object.values(logs)) {
    expect(committed).toBeGreaterThan(globals);
    expect(holds).toBeGreaterThan(0);
  }
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
