/** What README.md and docs/benchmarks.md say was measured is what the files in bench/results say. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/figures.mjs', import.meta.url));

test('the figures of the pages are those of the results', () => {
  expect(() => execFileSync(process.execPath, [script], { encoding: 'utf8', stdio: 'pipe' })).not.toThrow();
});
