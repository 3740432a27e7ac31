/** What the benchmarks' command line says to what it cannot run. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

test.each([
  ['no name', [], 'name a benchmark: core, '],
  ['a name that there is not', ['speed'], 'no benchmark "speed": there are core, '],
  [
    'a store that there is not',
    ['ads', '--binding', 'mongo'],
    '--binding takes one of redblue, cassandra, not "mongo"',
  ],
  ['a way that there is not', ['ads', '--binding', 'cassandra', '--way', '4'], '--way takes one of 1, 2, 3, not "4"'],
])('bench: %s → exit code 2, what to say instead, no stack', async (_what, args, said) => {
  const { code, stderr } = await runProgram([await built('bench/main.ts'), ...args]);
  expect(stderr).toContain(said);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(2);
});
