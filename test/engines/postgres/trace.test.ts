/** `npm run trace -- postgres-read` on real servers. */
import { expect, test } from 'vitest';
import { runProgram } from '../../support/run-program.ts';

test('postgres-read → the replica and the primary are asked, and both views are shown', async () => {
  const { code, stdout } = await runProgram([
    '--import',
    'tsx',
    'scripts/trace/main.ts',
    'postgres-read',
  ]);
  expect(code).toBe(0);
  for (const name of ['ReadRun.#readReplica', 'ReadRun.#readPrimary', 'PoolServer.run'])
    expect(stdout).toContain(name);
  expect(stdout.split('\n').filter((line) => line.includes('Source.view'))).toHaveLength(2);
});
