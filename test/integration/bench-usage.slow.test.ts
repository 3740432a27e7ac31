/** What the benchmarks' command line prints if it cannot run them. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

test.each([
  ['no name', [], 'name a benchmark: core, '],
  ['a name that there is not', ['speed'], 'no benchmark "speed": there are core, '],
  [
    'a store that there is not',
    ['ads', '--binding', 'mongo'],
    '--binding takes one of redblue, cassandra, postgres, not "mongo"',
  ],
  [
    'a store that others have',
    ['tickets', '--binding', 'mongo'],
    '--binding takes one of redblue, zookeeper, postgres',
  ],
  [
    'an option that there is not',
    ['server', '--quik'],
    'no option "quik": there are --json, --quick, ',
  ],
  [
    'an option of others',
    ['react', '--way', '2'],
    'react does not go by --way: it has none of its own',
  ],
  [
    'an option of others, beside its own',
    ['tickets', '--way', '2'],
    'tickets does not go by --way: it has --binding, --history',
  ],
  ['a further name', ['wire', 'core', '--quick'], 'one benchmark at a time, not also "core"'],
  [
    'a way that there is not',
    ['ads', '--binding', 'cassandra', '--way', '4'],
    '--way takes one of 1, 2, 3, not "4"',
  ],
])('bench: %s → exit code 2, what to say instead, no stack', async (_what, args, reported) => {
  const { code, stderr } = await runProgram([await built('bench/main.ts'), ...args]);
  expect(stderr).toContain(reported);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(2);
});
