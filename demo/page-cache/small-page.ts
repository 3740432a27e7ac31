/** Bundles the files of a small page, from the built package. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { PageFiles } from './page-files.ts';

/**
 * Bundles a script or a style sheet with what it imports.
 *
 * @param format of a script: `esm` for a module; `iife` for a classic script, which a browser also
 * loads from a disk
 */
export async function bundleFile(entry: URL, format: 'esm' | 'iife' = 'esm'): Promise<Buffer> {
  const options = { bundle: true, minify: true, target: 'es2022', write: false } as const;
  const { outputFiles } = await build({ entryPoints: [fileURLToPath(entry)], format, ...options });
  return Buffer.from(outputFiles[0]?.contents ?? []);
}

/**
 * The page in a folder with index.html, style.css and main.ts. The URL of the folder ends with a
 * slash.
 */
export async function bundleSmallPage(folder: URL): Promise<PageFiles> {
  const [html, style, script] = await Promise.all([
    readFile(new URL('index.html', folder)),
    bundleFile(new URL('style.css', folder)),
    bundleFile(new URL('main.ts', folder)),
  ]);
  return new Map([
    ['index.html', html],
    ['style.css', style],
    ['main.js', script],
  ]);
}
