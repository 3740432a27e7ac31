/**
 * Promises/A+ for `then`, rule by rule (its numbers), on results that are there already, that come
 * at once and that come later. What `then` returns is a native promise, so that 2.3, the resolution
 * procedure, is the platform's; two tests see to it that it is reached. Then the official suite,
 * whole.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { built } from '../../support/programs.ts';

interface SuiteReport {
  readonly stats: { readonly tests: number; readonly passes: number };
  readonly failures: readonly { readonly fullTitle: string }[];
}

test(
  'COR-5: the official suite of Promises/A+ → passes, all 872 tests of it',
  { timeout: 120_000 },
  async () => {
    const program = await built('test/unit/correctable/promises-aplus-suite.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      maxBuffer: 2 ** 26,
    });
    const { stats, failures } = JSON.parse(stdout) as SuiteReport;
    expect(failures.map(({ fullTitle }) => fullTitle)).toEqual([]);
    expect(stats).toMatchObject({ tests: 872, passes: 872 });
  },
);
