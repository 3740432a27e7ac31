/**
 * Builds the React shop of the examples as a page of the site, with a store in the page instead of
 * its servers.
 */
import { join } from 'node:path';
import { build } from 'vite';
import { OUTPUT, ROOT } from './folders.ts';

/** Writes it into the folder `shop` of the site. */
export async function buildShop(): Promise<void> {
  await build({
    root: join(ROOT, 'examples/react-shop'),
    base: './',
    configFile: false,
    logLevel: 'warn',
    resolve: {
      alias: [
        { find: './client.ts', replacement: join(ROOT, 'site/shop/client.ts') },
        { find: /^correctables$/, replacement: join(ROOT, 'dist/production/index.js') },
        { find: /^correctables\/(.+)$/, replacement: join(ROOT, 'dist/production/$1/index.js') },
      ],
    },
    build: { outDir: join(OUTPUT, 'shop'), emptyOutDir: true, target: 'es2022' },
  });
}
