/**
 * What a page of React pays for this package, beside TanStack Query: one page for each, which shows a cached value, then that
 * of an API, and writes it. Vite builds them. The figure `page-kb` is what a page has above one that is React alone,
 * compressed with gzip, in kB of 1000 bytes. It is above the aim of 1.0, so the check is that it does not grow. With
 * `--table` it also prints the parts of this package.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build } from 'vite';
import { root } from './exec.mjs';

const AIM = 1;
const MAX_RATIO = 1.42;

/** Parts of the package, by the files that they have. */
const PARTS = [
  [/react/, 'hooks'],
  [/tiered|level-call|report-failure|tier-result/, 'tiered'],
  [/speculat|derived-source|adopt-source|side-effects/, 'speculate, chain, map'],
  [/structural-equality|built-in-class/, 'equality of values'],
  [/errors?\.js|options\.js|validate|unknown-option|check-name/, 'errors and checks of arguments'],
  [/settle|iterate-views/, 'settle, when, for await'],
  [/client\/|operations|copies/, 'client and operations'],
  [/./, 'views and their order, deadlines, callbacks'],
];

const bare = await measure('react');
const [own, other] = await Promise.all(['correctables', 'tanstack-query'].map(measure));
const [ownKb, otherKb] = [own, other].map((bytes) => (bytes - bare) / 1000);
const ratio = ownKb / otherKb;
console.log(`page-kb: this package ${ownKb.toFixed(2)} kB, TanStack Query ${otherKb.toFixed(2)} kB`);
console.log(`page-kb: ratio ${ratio.toFixed(2)}, at most ${MAX_RATIO} (aim: ${AIM.toFixed(1)})`);
if (ratio > MAX_RATIO) process.exitCode = 1;
if (process.argv.includes('--table')) await printTable();

/** Returns the size of a page's scripts, compressed, in bytes. */
async function measure(name) {
  const folder = join(root, 'build/page-size', name);
  mkdirSync(folder, { recursive: true });
  const page = join(root, `scripts/page-size/${name}.jsx`);
  writeFileSync(join(folder, 'index.html'), `<div id="root"></div><script type="module" src="${page}"></script>`);
  const { output } = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: { write: false, modulePreload: false },
  });
  const scripts = output.filter(({ type }) => type === 'chunk').map(({ code }) => code);
  return gzipSync(scripts.join('\n'), { level: 9 }).length;
}

/** Prints the parts of the page with this package, with their bytes and their shares of the compressed page. */
async function printTable() {
  const { metafile, outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: ['scripts/page-size/correctables.jsx'],
    external: ['react', 'react-dom'],
    jsx: 'automatic',
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
  });
  const [{ inputs, bytes: allBytes }] = Object.values(metafile.outputs);
  const gzipped = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  const partOf = (file) => PARTS.find(([pattern]) => pattern.test(file))[1];
  const rows = PARTS.map(([, part]) => {
    const files = Object.keys(inputs).filter((file) => file.startsWith('dist/') && partOf(file) === part);
    const bytes = files.reduce((sum, file) => sum + inputs[file].bytesInOutput, 0);
    return { part, bytes, 'share by gzip, kB': (((bytes / allBytes) * gzipped) / 1000).toFixed(2) };
  });
  console.table(rows);
}
