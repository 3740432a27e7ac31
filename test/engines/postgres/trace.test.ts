/** `npm run trace -- postgres-read` on real servers. */
import { expect, test } from 'vitest';
import { runProgram } from '../../support/run-program.ts';

// If the primary answers first, there is one view.
const RETRIES = 5;

test(
  'postgres-read → the replica and the primary are asked, and both views are shown',
  { retry: RETRIES },
  async () => {
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
  },
);
