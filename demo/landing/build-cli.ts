/**
 * `npm run build:landing`: the landing page as a folder of static files, which runs from a disk or
 * any web server.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { PageFiles } from '../page-cache/page-files.ts';
import { buildLanding } from './build.ts';

const TARGET = new URL('../../build/landing/', import.meta.url);
const MAX_BYTES = 60_000;

const MORE = `<section class="more" aria-labelledby="more-title">
        <h2 id="more-title">See it on three sites</h2>
        <p>The other demos sell tickets, fetch ads and kill servers. They run on your machine: <code>npm ci &amp;&amp; npm run demo</code> in a checkout of the package.</p>
      </section>`;

/** The files of the page, by name. */
export async function staticFiles(): Promise<PageFiles> {
  const { assets, html } = await buildLanding();
  const page = html({ more: MORE, fullDemo: () => '' });
  return new Map([...assets, ['index.html', Buffer.from(page)]]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await staticFiles();
  await mkdir(TARGET, { recursive: true });
  for (const [name, body] of files) await writeFile(new URL(name, TARGET), body);
  const bytes = [...files.values()].reduce((sum, body) => sum + gzipSync(body).length, 0);
  console.log(
    `${fileURLToPath(TARGET)}: ${files.size} files, ${(bytes / 1000).toFixed(1)} kB compressed`,
  );
  if (bytes > MAX_BYTES) {
    console.error(`error: the landing page must have at most ${MAX_BYTES / 1000} kB compressed`);
    process.exitCode = 1;
  }
}
