/**
 * Compares what this package and TanStack Query add to a page of React. Each page shows a cached
 * value, then the value of an API, and writes it. Vite builds the pages as an application does, so
 * the export conditions of both packages count, unlike in `browser-bundles.mjs`. A size is that of
 * the scripts beyond a page with React alone, compressed with gzip, in kB of 1000 bytes. The ratio
 * is above its aim of 1.0. So the check is that it does not grow.
 */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { root } from './exec.mjs';

const AIM = 1;
const MAX_RATIO = 1.44;

const [bare, own, other] = await Promise.all(
  ['react', 'correctables', 'tanstack-query'].map(measure),
);
const [ownKb, otherKb] = [own, other].map((bytes) => (bytes - bare) / 1000);
const ratio = ownKb / otherKb;
console.log(
  `page-kb: this package ${ownKb.toFixed(2)} kB, TanStack Query ${otherKb.toFixed(2)} kB`,
);
console.log(`page-kb: ratio ${ratio.toFixed(2)}, at most ${MAX_RATIO} (aim: ${AIM.toFixed(1)})`);
if (ratio > MAX_RATIO) process.exitCode = 1;

/** Returns the size of a page's scripts, compressed, in bytes. */
async function measure(name) {
  const { output } = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      modulePreload: false,
      rollupOptions: { input: join(root, `scripts/page-size/${name}.jsx`) },
    },
  });
  const scripts = output.filter(({ type }) => type === 'chunk').map(({ code }) => code);
  return gzipSync(scripts.join('\n'), { level: 9 }).length;
}
