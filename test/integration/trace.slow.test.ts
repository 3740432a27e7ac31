/** `npm run trace` prints the way of an operation through the code. */
import { expect, test } from 'vitest';
import type { TraceCounts } from '../../scripts/trace/report.ts';
import { runProgram } from '../support/run-program.ts';

const TRACE = ['--import', 'tsx', 'scripts/trace/main.ts'];

test.each([
  ['memory-read', {}],
  // The gateway looks the name of the operation up. From there a plan is carried along.
  ['blue-write', { lookups: 1 }],
])('%s → counts files, functions and calls', async (walk, facts) => {
  const { code, stdout, stderr } = await runProgram([...TRACE, walk, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const counts = JSON.parse(stdout) as Readonly<Record<string, number>>;
  expect(counts).toMatchObject({ walk, ...facts });
  expect(counts['files']).toBeGreaterThan(10);
  expect(counts['functions']).toBeGreaterThan(counts['files'] as number);
  expect(counts['calls']).toBeGreaterThan(counts['functions'] as number);
});

test('memory-read → an indented list that begins with the call of the client', async () => {
  const { stdout } = await runProgram([...TRACE, 'memory-read']);
  const [first = '', second = ''] = stdout.split('\n');
  expect(first).toMatch(/^\S+ {2}src\/correctable\/client\/client\.ts:\d+$|src\/operations\//);
  expect(second.length).toBeGreaterThan(0);
});

test('blue-three-sites → the update becomes visible at each site', async () => {
  const { stdout } = await runProgram([...TRACE, 'blue-three-sites']);
  const appends = stdout.split('\n').filter((line) => line.includes('DurableStorage.append'));
  expect(appends.length).toBeGreaterThanOrEqual(3);
});

test('--fold → calls within a folder are one line and one call', async () => {
  const run = async (...args: string[]): Promise<string> =>
    (await runProgram([...TRACE, 'memory-read', ...args])).stdout;
  const plain = JSON.parse(await run('--json')) as TraceCounts;
  const folded = JSON.parse(await run('--json', '--fold', 'correctable,values')) as TraceCounts;
  expect(folded.folded).toEqual({
    correctable: expect.any(Number) as number,
    values: expect.any(Number) as number,
  });
  expect(folded.calls).toBeLessThan(plain.calls);
  expect(folded.files).toBeLessThan(plain.files);

  const way = await run('--fold', 'correctable');
  expect(way).toMatch(/^ *\[correctable: \d+ calls\]$/m);
  expect(way).not.toMatch(/src\/correctable/);
});

test.each([
  [[]],
  [['sideways']],
  [['memory-read', '--fast']],
  [['memory-read', '--fold', 'server/gateway']],
])('%j → exit code 2 and what to type', async (args) => {
  const { code, stderr } = await runProgram([...TRACE, ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain('npm run trace -- --help');
});
