/** The fuzzer itself: a short run, and the errors of its command line. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const CLI = await built('test/fuzz/cli.ts');

test('fuzz: a short storm with a fixed seed → served, nothing found, exit code 0', async () => {
  const args = ['--frames', '30000', '--minutes', '0.5', '--seed', '23', '--json'];
  const { code, stdout, stderr } = await runProgram([CLI, ...args]);
  const { findings, ...counts } = JSON.parse(stdout) as Record<string, unknown>;
  expect(findings, stderr).toEqual([]);
  expect(counts).toMatchObject({ seed: 23, crashes: 0, leaks: 0, untrueOutcomes: 0 });
  for (const name of ['frames', 'connections', 'requests', 'honest'])
    expect(counts[name]).toBeGreaterThan(0);
  expect(code).toBe(0);
}, 120_000);

test('fuzz: an option that does not exist → exit code 2, what to write instead, no stack', async () => {
  const { code, stdout, stderr } = await runProgram([CLI, '--sead', '7']);
  expect(stderr).toBe('fuzz: unknown option --sead; see --help\n');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
