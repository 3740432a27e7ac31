/**
 * Computes a hash of everything that goes into the demos' pages: their source, the built package,
 * and what is installed.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['demo', 'dist'];
/** The file in node_modules is written by npm, and lists the installed versions. */
const FILES = ['package.json', 'tsconfig.json', 'node_modules/.package-lock.json'];
/** The files that a bundler reads. */
const SOURCE = /\.(?:ts|js|json|html|css)$/;
const TYPES_ONLY = /\.d\.ts$/;

/** @param root the folder of the package */
export async function inputsHash(root: string = ROOT): Promise<string> {
  const listed = await Promise.all(FOLDERS.map((folder) => sourcesIn(root, folder)));
  const paths = [...FILES, ...listed.flat().toSorted()];
  const contents = await Promise.all(paths.map((path) => contentOf(join(root, path))));
  const hash = createHash('sha256');
  // Vite bundles for production by default, and then sets the variable itself.
  hash.update(process.env['NODE_ENV'] ?? 'production');
  for (const [at, path] of paths.entries()) {
    const content = contents[at] as Buffer;
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

async function sourcesIn(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names
    .filter((name) => SOURCE.test(name) && !TYPES_ONLY.test(name))
    .map((name) => join(folder, name));
}

/** Returns an empty content for a missing file: without npm, there is no such list of packages. */
async function contentOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
