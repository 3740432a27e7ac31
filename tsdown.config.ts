import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'tsdown';
import entries from './scripts/entries.json' with { type: 'json' };
import { shortMessages } from './scripts/short-messages.ts';

/** What is published (`scripts/entries.json`), by the name of what is built. */
const nameEntries = (published: typeof entries): Record<string, string> =>
  Object.fromEntries(
    published.map(({ source }) => [source.replace(/^src\//, '').replace(/\.ts$/, ''), source]),
  );

const options: UserConfig = {
  format: 'esm',
  platform: 'neutral',
  target: 'node20.19',
  fixedExtension: false,
  // One file for each source, so that a stack trace names it and a reader finds it.
  unbundle: true,
  // How long plugins take says nothing about what is built.
  checks: { pluginTimings: false },
  // The built files have the names and the lines of the sources without their types, so no map is
  // needed.
  sourcemap: false,
  clean: true,
  deps: {
    neverBundle: [
      /^node:/,
      /^@tanstack\//,
      'vitest',
      'ws',
      '#ws',
      'zod',
      'jose',
      'react',
      'rxjs',
      'idb',
      'prom-client',
      'classic-level',
      'cassandra-driver',
      'tsx',
      /^tsx\//,
    ],
  },
};

export default defineConfig([
  {
    ...options,
    entry: {
      ...nameEntries(entries),
      'cli/main': 'src/cli/main.ts',
      'cli/key-value': 'src/cli/key-value.ts',
      'transport/options/no-ws': 'src/transport/options/no-ws.ts',
    },
    dts: true,
    // Declarations have no map, and yet a line that names one.
    hooks: {
      'build:done': async ({ chunks }) => {
        for (const { outDir, fileName } of chunks.filter((chunk) =>
          chunk.fileName.endsWith('.d.ts'),
        )) {
          const path = join(outDir, fileName);
          await writeFile(
            path,
            (await readFile(path, 'utf8')).replace(/^\/\/# sourceMappingURL=.*\n?/m, ''),
          );
        }
      },
    },
  },
  // For pages in production.
  {
    ...options,
    entry: nameEntries(entries.filter(({ runs }) => runs === 'anywhere')),
    outDir: 'dist/production',
    dts: false,
    plugins: [shortMessages],
    // Comments are in the other build. Annotations are for bundlers.
    outputOptions: { comments: { legal: false, jsdoc: false, annotation: true } },
  },
]);
