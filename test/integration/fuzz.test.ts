/** The fuzzer itself: a short storm, and what its command line says to what it cannot run. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const CLI = await built('test/fuzz/cli.ts');

test('fuzz: a short storm with a fixed seed → served, nothing found, exit code 0', async () => {
  const { code, stdout, stderr } = await runProgram([
    CLI,
    '--frames',
    '30000',
    '--minutes',
    '0.5',
    '--seed',
    '23',
    '--json',
  ]);
  const { findings, ...counts } = JSON.parse(stdout) as Record<string, unknown>;
  expect(findings, stderr).toEqual([]);
  expect(counts).toMatchObject({ seed: 23, crashes: 0, leaks: 0, untrueOutcomes: 0 });
  for (const name of ['frames', 'connections', 'requests', 'visits', 'honest']) expect(counts[name]).toBeGreaterThan(0);
  expect(code).toBe(0);
}, 120_000);

test.each([
  ['--minutes', 'soon', '--minutes takes a number of minutes from 0.01 to 1440, not "soon"'],
  ['--seed', '1.5', '--seed takes a whole number from 0 to 2147483647, not "1.5"'],
  ['--frames', '0', '--frames takes a whole number from 1'],
  ['--sead', '7', 'unknown option --sead; see --help'],
])('fuzz: %s %s → exit code 2, what to say instead, no stack', async (flag, value, said) => {
  const { code, stdout, stderr } = await runProgram([CLI, flag, value]);
  expect(stderr).toContain(said);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test('fuzz: --help → what it does and which flags there are, exit code 0', async () => {
  const { code, stdout } = await runProgram([CLI, '--help']);
  for (const flag of ['--minutes', '--seed', '--frames', '--json']) expect(stdout).toContain(flag);
  expect(code).toBe(0);
});
