/**
 * `npm run check`: everything about the code that can be told without running it, and the built package.
 * `npm run check -- types lint` runs the named steps only.
 */
import { run } from './exec.mjs';

const steps = {
  build: ['node', ['scripts/build.mjs']],
  types: ['tsc', ['-p', '.']],
  lint: ['oxlint', ['--type-aware', '--deny-warnings', 'src', 'demo', 'bench', 'engines', 'test', 'scripts']],
  format: ['oxfmt', ['--check', '.']],
  dependencies: [
    'depcruise',
    ['src', 'demo', 'bench', 'engines', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
  ],
  unused: ['knip', ['--include', 'files,exports,types']],
  api: ['node', ['scripts/api.mjs']],
  package: ['publint', ['--strict']],
  browser: ['node', ['scripts/browser-bundles.mjs']],
  size: ['size-limit', []],
  hygiene: ['node', ['scripts/lint-repo.mjs']],
  language: ['node', ['scripts/language.mjs']],
};

/** Its output shows how much room is left. */
const alwaysShown = ['size'];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`unknown step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

let failed = 0;
for (const [name, [command, args]] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const from = performance.now();
  const { code, output } = await run(command, args);
  const took = `${((performance.now() - from) / 1000).toFixed(1)} s`;
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${took})`);
  if (code !== 0) failed += 1;
  if (code !== 0 || alwaysShown.includes(name))
    console.log(
      output
        .replaceAll(/\n\s*\n/g, '\n')
        .replaceAll(/^(?=.)/gm, '       ')
        .trimEnd(),
    );
}
process.exit(failed === 0 ? 0 : 1);
