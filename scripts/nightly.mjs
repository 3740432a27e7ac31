/** `npm run test:nightly [-- --minutes N]`: what takes too long for each change. */
import { runParts } from './run-steps.mjs';

if (process.argv.includes('--help')) {
  console.log(
    'npm run test:nightly [-- --minutes N]: every test with the most cases. --minutes: of each storm and history',
  );
  process.exit(0);
}
const at = process.argv.indexOf('--minutes');
const minutes = at < 0 ? '10' : process.argv[at + 1];
const tsx = (...args) => ['node', '--import', 'tsx', ...args, '--minutes', minutes];

process.exitCode = await runParts([
  { command: ['node', 'scripts/build.mjs'], isRequired: true },
  { command: ['node', 'scripts/test.mjs', '--lane', 'nightly'] },
  { command: ['node', '--import', 'tsx', 'test/simulator/cli.ts', '--planted'] },
  { command: tsx('test/fuzz/cli.ts') },
  { command: tsx('test/chaos/cli.ts', '--embedded') },
  {
    command: [
      'node',
      '--import',
      'tsx',
      'test/chaos/cli.ts',
      '--world',
      'redis',
      '--reads',
      '100000',
    ],
  },
  { command: ['node', 'scripts/test.mjs', '--lane', 'nightly', '--project', 'engines'] },
  // Two minutes are enough to notice what grows fast: run `npm run soak` for the rest.
  { command: ['node', '--import', 'tsx', 'test/soak/cli.ts', '--minutes', '2'] },
  ...['zookeeper', 'cassandra'].map((engine) => ({
    command: tsx('test/histories/main.ts', engine),
  })),
]);
