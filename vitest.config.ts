import { defineConfig } from 'vitest/config';

const project = (name: string, extra: object = {}): object => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], ...extra },
});

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      project('unit'),
      project('contract'),
      project('property', { testTimeout: 60_000 }),
      project('simulation', { testTimeout: 120_000 }),
      project('integration', { testTimeout: 60_000 }),
      project('e2e', { testTimeout: 120_000, fileParallelism: false }),
      // The real stores, started by the tests: `npm run test:engines`.
      project('engines', { testTimeout: 180_000, hookTimeout: 180_000, fileParallelism: false }),
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
