/** The command of the chaos runs, and one short round. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const CLI = await built('test/chaos/cli.ts');

test('chaos: an unknown fault → exit code 2, those that there are, no stack', async () => {
  const { code, stdout, stderr } = await runProgram([CLI, '--faults', 'meteor']);
  expect(stderr).toMatch(/^chaos: --faults takes clients-cut, .*, not "meteor"\n$/);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test.each([
  ['an unknown engine', ['--engine', 'raft'], '--engine takes built-in or etcd, not "raft"'],
  ['etcd for sites in one process', ['--engine', 'etcd', '--embedded'], 'leave out --engine etcd'],
])('chaos: %s → exit code 2', async (_, args, message) => {
  const { code, stderr } = await runProgram([CLI, ...args]);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

test.each([
  ['of a cluster', []],
  ['of three sites in one process', ['--embedded']],
])('chaos: a round %s in which a node is killed → nothing is found', async (_, deployment) => {
  const args = ['--minutes', '0.15', '--seed', '7', '--faults', 'kill', '--json', ...deployment];
  const { code, stdout } = await runProgram([CLI, ...args]);
  const report = JSON.parse(stdout) as {
    readonly faults: readonly string[];
    readonly injected: object;
  };
  expect(report.faults).toEqual([]);
  expect(report.injected).toHaveProperty('kill');
  expect(code).toBe(0);
});
