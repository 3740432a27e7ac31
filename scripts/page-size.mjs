/**
 * What a page of React pays for this package, beside TanStack Query: one page for each, which shows a cached value, then that
 * of an API, and writes it. Vite builds them. The figure `page-kb` is what a page has above one that is React alone,
 * compressed with gzip, in kB of 1000 bytes. It is above the aim of 1.0, so the check is that it does not grow.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { root } from './exec.mjs';

const AIM = 1;
const MAX_RATIO = 1.4;

const bare = await measure('react');
const [own, other] = await Promise.all(['correctables', 'tanstack-query'].map(measure));
const [ownKb, otherKb] = [own, other].map((bytes) => (bytes - bare) / 1000);
const ratio = ownKb / otherKb;
console.log(`page-kb: this package ${ownKb.toFixed(2)} kB, TanStack Query ${otherKb.toFixed(2)} kB`);
console.log(`page-kb: ratio ${ratio.toFixed(2)}, at most ${MAX_RATIO} (aim: ${AIM.toFixed(1)})`);
if (ratio > MAX_RATIO) process.exitCode = 1;

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
