/** The command of the histories: what it says to what it cannot run. Its runs are tests of engines. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const CLI = await built('test/histories/main.ts');

test.each([
  [[], 'say which engine: '],
  [['redis'], 'not "redis"'],
  [['zookeeper', 'cassandra'], 'unexpected argument "cassandra"; see --help'],
  [['zookeeper', '--minutes', 'soon'], '--minutes takes a number of minutes from 0.01 to 1440, not "soon"'],
  [['zookeeper', '--seed', '1.5'], '--seed takes a whole number from 0 to 2147483647, not "1.5"'],
  [['zookeeper', '--sead', '7'], 'unknown option --sead; see --help'],
])('histories: %s → exit code 2, what to say instead, no stack', async (args, said) => {
  const { code, stdout, stderr } = await runProgram([CLI, ...args]);
  expect(stderr).toContain(said);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test('histories: --help → which engines and flags there are, exit code 0', async () => {
  const { code, stdout } = await runProgram([CLI, '--help']);
  for (const word of ['zookeeper', '--minutes', '--seed', '--history', '--json']) expect(stdout).toContain(word);
  expect(code).toBe(0);
});
