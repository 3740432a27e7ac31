/** `npm run mutate -- [PATH…]`: generated mutants of the type-checked source, and which of them the tests notice. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root as rootSlash, run } from '../run.mjs';
import { ACCEPTED } from './accepted.mjs';
import { accepted as acceptedOf, summary, told } from './report.mjs';
import { checkedMutants } from './checked.mjs';
import { copyTree } from './copy-tree.mjs';
import { instrument } from './instrument.mjs';
import { judgeSideBySide } from './jobs.mjs';
import { keptIn, verdictsIn } from './kept.mjs';
import { statesOf, testFilesFor } from './test-files.mjs';

const root = rootSlash.replace(/\/$/, '');

/** What is mutated where no path is named. */
export const DEFAULT_PATHS = [
  'src/correctable',
  'src/transport',
  'src/protocol',
  'src/server',
  'src/bindings/cache',
  'src/bindings/cassandra',
  'src/bindings/zookeeper',
];
/** The projects whose tests are asked: those that are quick enough to be run some hundred times. */
const DEFAULT_PROJECTS = ['unit', 'contract', 'property'];

/**
 * @param {object} options
 * @param {readonly string[]} options.paths
 * @param {number | undefined} options.sample
 * @param {number} options.seed
 * @param {string | undefined} options.since
 * @param {readonly string[]} options.projects
 * @param {string} options.tests a part of the paths of the test files to ask
 * @param {number} options.askAtMost test files about one mutant, the nearest first
 * @param {number} options.idleAfter test files in a row without news, after which it ends
 * @param {number} options.jobs test processes at the same time
 * @param {string | undefined} options.keep a file of answers, which need not be there
 * @param {boolean} options.json
 * @returns {Promise<number>} the exit code
 * @throws {UsageError} where nothing is asked for: a path without a source, sources without a mutant, no test file
 */
export async function runGenerated({
  paths,
  sample,
  seed,
  since,
  projects,
  tests: within,
  askAtMost,
  idleAfter,
  jobs,
  keep,
  json,
}) {
  const from = performance.now();
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => stop.abort());
  const say = progressOf(json);

  const files = await filesOf(paths.length > 0 ? paths : DEFAULT_PATHS, since);
  if (files.length === 0) throw new UsageError(`no source file of these paths has changed since ${since}`);
  const tests = await testsOf(projects.length > 0 ? projects : DEFAULT_PROJECTS, within);
  // All of it is about the copy: what is written in this tree meanwhile comes too late.
  const copy = await copyTree();
  const mutants = await checkedMutants(copy, files, {
    sample,
    seed,
    signal: stop.signal,
    verdicts: keep === undefined ? undefined : verdictsIn(keep, statesOf(copy, files)),
    onProgress: say.checking,
  });
  if (stop.signal.aborted) return 130;
  if (mutants.length === 0) throw new UsageError(`there is nothing to break in ${files.join(', ')}`);

  const asked = testFilesFor(copy, tests, new Set(mutants.map(({ file }) => file)));
  const states = statesOf(copy, asked);
  for (const file of files) {
    const path = join(copy, file);
    const to = relative(dirname(path), join(copy, 'scripts/mutation/switch.mjs'));
    const own = mutants.filter((mutant) => mutant.file === file);
    writeFileSync(path, instrument(readFileSync(path, 'utf8'), own, to));
  }

  const ids = mutants.map(({ id }) => id);
  const judged = await judgeSideBySide(jobs, {
    copy,
    ids,
    tests: asked,
    askAtMost,
    idleAfter,
    keepFor: keep === undefined ? undefined : keptIn(keep, { mutants, askAtMost, states }),
    signal: stop.signal,
    onProgress: (at) => say.judging(at, ids.length),
  });
  say.end();
  const seconds = Math.round((performance.now() - from) / 1000);
  const isCut = stop.signal.aborted;
  const report = {
    commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
    paths: paths.length > 0 ? paths : DEFAULT_PATHS,
    ...(sample && { sample, seed }),
    ...(since && { since }),
    ...(isCut && { isCut }),
    seconds,
    askAtMost,
    idleAfter,
    testFiles: asked.length,
    ...summary(mutants, judged, acceptedOf(ACCEPTED)),
  };
  console.log(json ? JSON.stringify(report) : told(report));
  if (isCut) return 130;
  return report.folders.every(({ met }) => met) ? 0 : 1;
}

/** What was asked for is not there. */
export class UsageError extends Error {}

const listedBy = async (...paths) => {
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths]);
  return output.split('\n').filter((file) => existsSync(join(root, file)));
};

/** Sources under the paths: each has one at least. */
async function filesOf(paths, since) {
  const found = new Set();
  for (const path of paths) {
    const files = (await listedBy(path)).filter((file) => file.startsWith('src/') && file.endsWith('.ts'));
    if (files.length === 0) throw new UsageError(`no source file of src is at ${path}`);
    for (const file of files) found.add(file);
  }
  if (since === undefined) return [...found];
  const { code, output } = await run('git', ['diff', '--name-only', since]);
  if (code !== 0) throw new UsageError(output.trim());
  const changed = new Set(output.split('\n'));
  return [...found].filter((file) => changed.has(file));
}

/** The test files of the projects whose path contains the text. */
async function testsOf(projects, text) {
  const listed = await listedBy(...projects.map((name) => `test/${name}`));
  const tests = listed.filter((file) => file.endsWith('.test.ts') && file.includes(text));
  if (tests.length === 0) throw new UsageError(`no test file of ${projects.join(', ')} has '${text}' in its path`);
  return tests;
}

/** Where it stands, on standard error: one line that is written over on a terminal, one every ten seconds elsewhere. */
function progressOf(json) {
  let last = 0;
  const isTerminal = process.stderr.isTTY;
  const show = (text) => {
    const now = performance.now();
    if (json && !isTerminal && now - last < 60_000) return;
    if (now - last < (isTerminal ? 100 : 10_000)) return;
    last = now;
    process.stderr.write(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  };
  return {
    checking: (done, total) => show(`type checks: ${done} of ${total}`),
    judging: ({ file, filesLeft, noticed, missed }, total) =>
      show(`${noticed} of ${total} noticed, ${missed} missed so far; ${filesLeft} test files left; ${file}`),
    end: () => isTerminal && process.stderr.write('\r\x1b[K'),
  };
}
