import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };
import { lane } from './test/support/lane.ts';

// A machine with slow disks and busy cores is no failure: time-outs end what hangs, they measure
// nothing. Every project gets them here, because projects do not inherit what stands beside
// `projects`.
const testTimeout = lane === 'nightly' ? 600_000 : 60_000;
const patient = {
  testTimeout,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000, interval: 5 } },
};

/**
 * A process runs many files, and loads the source, and what that imports, once for all of them:
 * that takes longer than most files do. What a file puts in place of the world's own things goes
 * with it.
 */
const inOneProcess = { isolate: false, setupFiles: ['test/support/restore-globals.ts'] };

/** For projects with properties. */
const FULL_SIZES = 'test/support/full-sizes.ts';
const withProperties = { ...inOneProcess, setupFiles: [...inOneProcess.setupFiles, FULL_SIZES] };

/**
 * A file that sets the time, replaces modules or replaces the network gets its own process: timers
 * that it starts by such a time never fire for the next file, modules that have seen it would see
 * time go back, and msw answers a socket once for each file that has listened.
 */
const OWN_WORLD =
  /\bvi\.(useFakeTimers|setSystemTime|mock|doMock|resetModules)\(|from 'msw|\/virtual-time\.ts'|\/cache-model\/run-schedule\.ts'/;
const root = fileURLToPath(new URL('.', import.meta.url));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const isApart = (file: string): boolean => OWN_WORLD.test(textOf(file));

/** `npm test` leaves these files out. They take more than two seconds, or start programs. */
const isSlow = (file: string): boolean => file.endsWith('.slow.test.ts');
/** The remaining lane runs files again that run fewer cases in `npm test`. */
const hasCounts = (file: string): boolean => /\/lane\.ts'|\btestShares\b/.test(textOf(file));
const isInLane = (file: string): boolean => {
  if (lane === 'fast') return !isSlow(file);
  return lane !== 'remaining' || isSlow(file) || hasCounts(file) || file.startsWith('test/e2e/');
};
const filesOf = (folder: string): string[] =>
  readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${folder}/${file}`)
    .filter((file) => file.endsWith('.test.ts') && isInLane(file));

/**
 * Demos import the package by its name, as users do. In tests that is the source: what is built may
 * be older.
 */
const sources = Object.entries(manifest.exports).flatMap(([subpath, to]) => {
  if (typeof to === 'string') return [];
  const source = to.default.replace('./dist/', './src/').replace(/\.js$/, '.ts');
  const name = subpath.replace('.', manifest.name);
  return [{ find: new RegExp(`^${name}$`), replacement: join(root, source) }];
});

const project = (
  name: string,
  extra: object = {},
  include: readonly string[] = filesOf(name),
): object => ({
  resolve: { alias: sources },
  test: { name, include, ...patient, ...extra },
});

/** Two projects for a folder: files that share a process, and files that need one of their own. */
const withApart = (folder: string, shared: object = withProperties): object[] => {
  const files = filesOf(folder);
  const together = files.filter((file) => !isApart(file));
  return [
    project(folder, shared, together),
    project(`${folder}-apart`, { setupFiles: [FULL_SIZES] }, files.filter(isApart)),
  ];
};

/**
 * Two files at a time on two cores, of which vitest would use one. Many tests wait for sockets, timers and processes; and
 * what they compare with a time must hold on a busy machine: with three at a time one in three thousand does not.
 */
const maxWorkers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  test: {
    maxWorkers,
    // By content: what one project has made of a module, the others need not make again.
    experimental: { fsModuleCache: true },
    projects: [
      ...withApart('unit'),
      ...withApart('docs'),
      ...withApart('property'),
      ...withApart('conformance', {
        ...inOneProcess,
        setupFiles: [...inOneProcess.setupFiles, 'test/conformance/concurrent-tests.ts'],
      }),
      project('simulation', { testTimeout: 2 * testTimeout }),
      project('integration', inOneProcess),
      project('e2e', {
        testTimeout: 120_000,
        ...inOneProcess,
        globalSetup: 'test/e2e/support/one-browser.ts',
      }),
      // The real stores, started by the tests: `npm run test:engines`.
      project('engines', {
        testTimeout: 180_000,
        hookTimeout: 180_000,
        fileParallelism: false,
        globalSetup: 'test/engines/support/cassandra-run.ts',
      }),
      {
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/types/**/*.test-d.ts'],
            // With what these files import. Of all the rest the compiler is asked by `npm run
            // check`.
            tsconfig: './test/types/tsconfig.json',
          },
        },
      },
    ],
  },
});
