import { defineConfig } from 'vitest/config';

// A machine with slow disks and busy cores is no failure: time-outs end what hangs, they measure nothing.
// Every project gets them here, because projects do not inherit what stands beside `projects`.
const patient = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

const project = (name: string, extra: object = {}): object => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], ...patient, ...extra },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('contract'),
      project('property'),
      project('simulation', { testTimeout: 120_000 }),
      project('integration'),
      project('e2e', { testTimeout: 120_000, fileParallelism: false }),
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
          typecheck: { enabled: true, only: true, include: ['test/types/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
        },
      },
    ],
  },
});
