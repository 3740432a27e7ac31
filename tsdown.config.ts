import { defineConfig } from 'tsdown';

/** One entry a published subpath; `test/unit/listings/source.test.ts` holds what is built equal to package.json's `exports`. */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'operations/index': 'src/operations/index.ts',
    'bindings/memory/index': 'src/bindings/memory/index.ts',
    'bindings/primary-backup/index': 'src/bindings/primary-backup/index.ts',
    'bindings/cache/index': 'src/bindings/cache/index.ts',
    'bindings/cache/node': 'src/bindings/cache/node.ts',
    'bindings/remote/index': 'src/bindings/remote/index.ts',
    'bindings/redblue/index': 'src/bindings/redblue/index.ts',
    'bindings/zookeeper/index': 'src/bindings/zookeeper/index.ts',
    'bindings/cassandra/index': 'src/bindings/cassandra/index.ts',
    'policies/index': 'src/policies/index.ts',
    'rxjs/index': 'src/rxjs/index.ts',
    'server/index': 'src/server/index.ts',
    'testing/index': 'src/testing/index.ts',
    'cli/main': 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'node20.19',
  fixedExtension: false,
  dts: true,
  // With the sources in them, which are not packed: a stack trace and a debugger show what was written.
  sourcemap: true,
  clean: true,
  deps: {
    neverBundle: [
      /^node:/,
      'vitest',
      'ws',
      'zod',
      'pino',
      'cac',
      'jose',
      'rxjs',
      'idb',
      'prom-client',
      'classic-level',
      'cassandra-driver',
      'tsx',
      /^tsx\//,
    ],
  },
});
