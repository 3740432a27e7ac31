import type { KnipConfig } from 'knip';
import entries from './scripts/entries.json' with { type: 'json' };

/**
 * What is exported is used by a published entry, or by whatever stands beside `src/`: `npm run
 * check -- unused`.
 */
const config: KnipConfig = {
  entry: [
    ...entries.map(({ source }) => source),
    'src/cli/key-value.ts',
    '{bench,demo,engines,research,site,test,scripts}/**/*.{ts,tsx,mjs,cjs}',
  ],
  project: ['src/**/*.ts'],
  ignoreExportsUsedInFile: true,
};

export default config;
