/**
 * `npm run check`: everything about the code that can be told without running it, and the built
 * package. Steps run side by side, one for each processor, the quick ones first. `npm run check --
 * types lint` runs the named steps only.
 */
import { availableParallelism } from 'node:os';
import { run } from './exec.mjs';

/** `tsc` checks again only what depends on a changed file. */
const TYPES_STATE = '.cache/types.tsbuildinfo';

/** In the order in which they start. Those with `needsBuild` look at the built package. */
const steps = {
  build: { command: 'node', args: ['scripts/build.mjs'] },
  format: { command: 'oxfmt', args: ['--check', '.'] },
  language: { command: 'node', args: ['scripts/language.mjs'] },
  names: { command: 'node', args: ['scripts/comment-names.mjs'] },
  dependencies: {
    command: 'depcruise',
    args: [
      'src',
      'demo',
      'bench',
      'engines',
      'research',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
    ],
  },
  hygiene: { command: 'node', args: ['scripts/lint-repo.mjs'], needsBuild: true },
  types: {
    command: 'tsc',
    args: ['-p', '.', '--incremental', '--tsBuildInfoFile', TYPES_STATE],
    needsBuild: true,
  },
  lint: {
    command: 'oxlint',
    args: [
      '--type-aware',
      '--deny-warnings',
      'src',
      'demo',
      'bench',
      'engines',
      'research',
      'site',
      'test',
      'scripts',
    ],
    needsBuild: true,
  },
  api: { command: 'node', args: ['scripts/api.mjs'], needsBuild: true },
  unused: { command: 'knip', args: ['--include', 'files,exports,types'], needsBuild: true },
  package: { command: 'publint', args: ['--strict'], needsBuild: true },
  browser: { command: 'node', args: ['scripts/browser-bundles.mjs'], needsBuild: true },
  // It measures the bundles of the step before. Its output shows how much room is left.
  size: { command: 'size-limit', args: [], after: 'browser', isAlwaysShown: true },
  'page-size': {
    command: 'node',
    args: ['scripts/page-size.mjs'],
    needsBuild: true,
    isAlwaysShown: true,
  },
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`unknown step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

const isWanted = (name) => names.length === 0 || names.includes(name);
const waiting = Object.keys(steps).filter(
  (name) => isWanted(name) || (name === 'browser' && isWanted('size')),
);
/** By name: resolves once the step has ended. */
const ends = new Map();
const building = waiting.includes('build') ? runStep(waiting.shift()) : undefined;
let failed = 0;
// The build is the first of them.
const workers = Array.from({ length: availableParallelism() }, (_, at) =>
  work(at === 0 ? building : undefined),
);
await Promise.all(workers);
process.exit(failed === 0 ? 0 : 1);

async function runInOrder(name) {
  if (steps[name].needsBuild) await building;
  await ends.get(steps[name].after);
  await runStep(name);
}

async function work(before) {
  await before;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const end = runInOrder(name);
    ends.set(name, end);
    await end;
  }
}

async function runStep(name) {
  const { command, args, isAlwaysShown } = steps[name];
  const from = performance.now();
  const { code, output } = await run(command, args);
  const took = `${((performance.now() - from) / 1000).toFixed(1)} s`;
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${took})`);
  if (code !== 0) failed += 1;
  if (code !== 0 || isAlwaysShown) console.log(indent(output));
}

function indent(output) {
  return output
    .replaceAll(/\n\s*\n/g, '\n')
    .replaceAll(/^(?=.)/gm, '       ')
    .trimEnd();
}
