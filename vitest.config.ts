import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

// A machine with slow disks and busy cores is no failure: time-outs end what hangs, they measure nothing.
// Every project gets them here, because projects do not inherit what stands beside `projects`.
const patient = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000, interval: 5 } } };

/**
 * A process runs many files, and loads the source, and what that imports, once for all of them: that takes longer than most
 * files do. What a file puts in place of the world's own things goes with it.
 */
const inOneProcess = { isolate: false, setupFiles: ['test/support/leave-nothing.ts'] };

/** For projects with properties. */
const FULL_SIZES = 'test/support/full-sizes.ts';
const withProperties = { ...inOneProcess, setupFiles: [...inOneProcess.setupFiles, FULL_SIZES] };

/**
 * Who has a time of his own, modules of his own or a network of his own has a process of his own too: what he arms by such a
 * time never fires for those who come after, modules that have seen it would see time go back, and msw answers a socket once
 * for each file that has listened.
 */
const OWN_WORLD =
  /\bvi\.(useFakeTimers|setSystemTime|mock|doMock|resetModules)\(|from 'msw|\/virtual-time\.ts'|\/cache-model\/play\.ts'/;
const root = fileURLToPath(new URL('.', import.meta.url));
const apart = (folder: string): string[] =>
  readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', folder, file))
    .filter((file) => file.endsWith('.test.ts') && OWN_WORLD.test(readFileSync(join(root, file), 'utf8')));

/** Demos import the package by its name, as users do. In tests that is the source: what is built may be older. */
const sources = Object.entries(manifest.exports).flatMap(([subpath, to]) => {
  if (typeof to === 'string') return [];
  const source = to.default.replace('./dist/', './src/').replace(/\.js$/, '.ts');
  const name = subpath.replace('.', manifest.name);
  return [{ find: new RegExp(`^${name}$`), replacement: join(root, source) }];
});

const project = (name: string, extra: object = {}): object => ({
  resolve: { alias: sources },
  test: { name, include: [`test/${name}/**/*.test.ts`], ...patient, ...extra },
});

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
      project('unit', { ...withProperties, exclude: apart('unit') }),
      project('unit-apart', { include: apart('unit') }),
      project('property', { ...withProperties, exclude: apart('property') }),
      project('property-apart', { include: apart('property'), setupFiles: [FULL_SIZES] }),
      project('contract', {
        ...inOneProcess,
        setupFiles: [...inOneProcess.setupFiles, 'test/contract/side-by-side.ts'],
      }),
      project('simulation', { testTimeout: 120_000 }),
      project('integration', inOneProcess),
      project('e2e', { testTimeout: 120_000, ...inOneProcess, globalSetup: 'test/e2e/support/one-browser.ts' }),
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
            // With what these files import. Of all the rest the compiler is asked by `npm run check`.
            tsconfig: './test/types/tsconfig.json',
          },
        },
      },
    ],
  },
});
