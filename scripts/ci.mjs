/**
 * `.ci/run [--engines]`: the checks, then all tests that a change must pass. The checks build the
 * package, which the tests then use. `--engines` runs the tests of engines even if nothing that
 * they depend on has changed.
 */
import { engineChanges } from './engines-changed.mjs';
import { runParts } from './run-steps.mjs';

const changes = process.argv.includes('--engines') ? '--engines' : engineChanges();
console.log(
  `tests of engines: ${changes === undefined ? 'skipped, nothing has changed' : `run, ${changes}`}`,
);
process.exitCode = await runParts([
  { command: ['npm', 'run', '--silent', 'check'], isRequired: true },
  { command: ['node', 'scripts/test.mjs'] },
  { command: ['node', 'scripts/test.mjs', '--lane', 'remaining'] },
  {
    command: ['node', 'scripts/test.mjs', '--lane', 'all', '--project', 'engines', '--short'],
    ...(changes === undefined && {
      skip: 'nothing that they depend on has changed since they passed',
    }),
  },
]);
