/**
 * `npm test [-- options] [-- vitest arguments]`: runs the tests, by default those of the fast lane. The last line is
 * `N passed, N failed`, then `, N skipped` if some were. A skipped test prints its reason.
 */
import { readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LANES, withProjects } from './select-projects.mjs';
import { recordEngines } from './engines-changed.mjs';
import { root, run } from './exec.mjs';

const HELP = `node scripts/test.mjs [options] [vitest arguments]

  npm test              the fast lane: unit, docs, conformance, property and simulation tests with a tenth of the cases,
                        integration tests, types. It needs no build.
  npm run test:all      builds, then runs every test in full that needs Node alone, and the browsers.
  npm run test:engines  builds, then starts real ZooKeeper and Cassandra. \`-- --short\` does less.
  npm run test:nightly  test:all with 40 seeds a simulation profile and ten times the cases, all engines, storms, histories.

Options:
  --lane <lane>         fast, remaining (what test:all has and fast lacks), all, nightly. Default: fast
  --project <name>      one project of vitest.config.ts, or all but one: --project=!unit. May be repeated
  --short               let the tests of engines do less
  --record              after the tests of engines have passed, write test/engines/passed-with.json: .ci/run skips them
                        until one of the files that they depend on changes
  --help                print this`;

/** This many of the slowest files are listed at the end. */
const SLOWEST = 5;

/** Of what a failed test reports, this many lines are printed again at the end. */
const FAILURE_LINES = 12;

const { lane, isShort, isRecording, passedOn } = readOptions(process.argv.slice(2));
process.env['TEST_LANE'] = lane;
if (isShort) process.env['ENGINES_SHORT'] = '1';
const report = join(tmpdir(), `correctables-tests-${process.pid}.json`);
const reporters = ['run', '--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`];
const { code } = await run('vitest', [...reporters, ...passedOn], { echo: true });

let failed = 0;
let passed = 0;
let skipped = 0;
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed = result.numPassedTests;
  skipped = result.numPendingTests + result.numTodoTests;
  failed =
    result.numFailedTests +
    result.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    ).length;
  printSlowest(result.testResults);
  printFailed(result.testResults);
} catch (error) {
  console.error(`the test run left no report: ${error.message}`);
}
rmSync(report, { force: true });
if (code !== 0 && failed === 0) failed = 1;
if (passed === 0 && failed === 0) failed = 1;
if (isRecording && failed === 0 && process.env['SKIP_ENGINES'] !== '1') recordEngines();
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed === 0 ? 0 : 1);

function readOptions(given) {
  if (given.includes('--help')) {
    console.log(HELP);
    process.exit(0);
  }
  try {
    const others = given.filter((argument) => argument !== '--short' && argument !== '--record');
    const at = others.findIndex((argument) => argument === '--lane');
    const [, name = 'fast'] = at < 0 ? [] : others.splice(at, 2);
    if (!(name in LANES))
      throw new Error(`--lane must be one of ${Object.keys(LANES).join(', ')}, got "${name}"`);
    const isRecord = given.includes('--record');
    if (isRecord && !others.join(' ').match(/--project[ =]engines$/))
      throw new Error('--record is for all tests of engines: name --project engines, and no file');
    return {
      lane: name,
      isShort: given.includes('--short'),
      isRecording: isRecord,
      passedOn: withProjects(others, LANES[name]),
    };
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exit(2);
  }
}

function printSlowest(files) {
  const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000;
  const slowest = files.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
  console.log('slowest files:');
  for (const file of slowest)
    console.log(`  ${seconds(file).toFixed(1)} s ${relative(root, file.name)}`);
}

/**
 * `runParts` prints these lines once more at the very end, where a shortened log still has them.
 */
function printFailed(files) {
  for (const file of files) {
    const name = relative(root, file.name);
    const tests = file.assertionResults.filter((test) => test.status === 'failed');
    for (const test of tests)
      printFailure(`${name} > ${test.fullName}`, test.failureMessages.join('\n'));
    if (file.status === 'failed' && file.assertionResults.length === 0)
      printFailure(name, file.message);
  }
}

function printFailure(name, message) {
  console.log(`failed: ${name}`);
  for (const line of message.split('\n').slice(0, FAILURE_LINES)) console.log(`  ${line}`);
}
