/**
 * Bundles each browser entry of the built package for a browser. A Node built-in anywhere below it
 * fails the build, as does an inline `process`. The bundles whose size has a budget stay in
 * build/size for `size-limit`: the library entry with everything that it exports, and what a
 * program pays that imports `correctable` alone, with all methods of what it makes (callbacks,
 * promise, `for await`, settle, speculate, map, deadlines, signals) but no client, session or join.
 */
import { build } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './exec.mjs';

const budgets = join(root, 'build/size');
mkdirSync(budgets, { recursive: true });

const { default: table } = await import('./entries.json', { with: { type: 'json' } });
const published = table.filter(({ runs }) => runs === 'anywhere');
/** Returns the file of a source that a page in production downloads. */
const built = (source) => source.replace(/^src/, 'dist/production').replace(/\.ts$/, '.js');
const library = built('src/index.ts');
/** The bundles whose size has a budget. */
const measured = new Set(['index', 'correctable', 'tanstack-query', 'store', 'react', 'http']);
/**
 * Bundles of something else than the whole entry: `react` is measured together with the library,
 * whose code it shares.
 */
const parts = { react: { beside: library }, http: { only: 'fetchViews, createHttpSession' } };
const entries = [
  { name: 'index', path: library },
  { name: 'correctable', path: library, only: 'correctable' },
  ...published
    .filter(({ subpath }) => subpath !== '.')
    .map(({ subpath, source }) => ({
      name: subpath.slice(2),
      path: built(source),
      ...parts[subpath.slice(2)],
    })),
];

const load = (path, only) => `export ${only === undefined ? '*' : `{ ${only} }`} from './${path}';`;

for (const { name, path, only, beside } of entries) {
  const result = await build({
    stdin: { contents: load(path, only) + (beside ? load(beside) : ''), resolveDir: root },
    external: ['react'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    minify: true,
    write: false,
    logLevel: 'error',
  });
  const [{ text }] = result.outputFiles;
  if (/(?<![.\w])(process|Buffer)\.|require\(/.test(text))
    throw new Error(`${name}: the bundle refers to Node's globals`);
  if (measured.has(name)) writeFileSync(join(budgets, `${name}.js`), text);
  console.log(`${name}: ${(text.length / 1024).toFixed(1)} kB minified`);
}
