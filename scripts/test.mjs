/**
 * `npm test [-- vitest arguments]`: every test that needs Node alone, unless a `--project` is named; where one is left out
 * (`--project=!unit`), the others that need Node alone. `--short` lets the tests of engines do less. The last line is
 * `N passed, N failed`, with `, N skipped` where some were; a skipped test prints its reason.
 */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withProjects } from './chosen-projects.mjs';
import { run } from './run.mjs';

const report = join(tmpdir(), `correctables-tests-${process.pid}.json`);
const args = ['run', '--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`];
const given = process.argv.slice(2).filter((argument) => argument !== '--short');
if (process.argv.includes('--short')) process.env['ENGINES_SHORT'] = '1';
const { code } = await run('vitest', [...args, ...chosen()], { echo: true });

let failed = 0;
let passed = 0;
let skipped = 0;
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed = result.numPassedTests;
  skipped = result.numPendingTests + result.numTodoTests;
  failed =
    result.numFailedTests +
    result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
} catch (error) {
  console.error(`the test run left no report: ${error.message}`);
}
rmSync(report, { force: true });
if (code !== 0 && failed === 0) failed = 1;
if (passed === 0 && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed === 0 ? 0 : 1);

function chosen() {
  try {
    return withProjects(given);
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}
