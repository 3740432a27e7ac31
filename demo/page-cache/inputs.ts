/** A hash of all that goes into the demos' pages: their source, the built package, and what is installed. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['demo', 'dist'];
/** The one in node_modules is written by npm, and says which versions are there. */
const FILES = ['package.json', 'tsconfig.json', 'node_modules/.package-lock.json'];
/** What a bundler reads. */
const SOURCE = /\.(?:ts|js|json|html|css)$/;
const TYPES_ONLY = /\.d\.ts$/;

/** @param root the folder of the package */
export async function inputsHash(root: string = ROOT): Promise<string> {
  const listed = await Promise.all(FOLDERS.map((folder) => sourcesIn(root, folder)));
  const paths = [...FILES, ...listed.flat().toSorted()];
  const contents = await Promise.all(paths.map((path) => contentOf(join(root, path))));
  const hash = createHash('sha256');
  // Vite bundles for production where nothing else is said, and says so itself from then on.
  hash.update(process.env['NODE_ENV'] ?? 'production');
  for (const [at, path] of paths.entries()) {
    const content = contents[at] as Buffer;
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

async function sourcesIn(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => SOURCE.test(name) && !TYPES_ONLY.test(name)).map((name) => join(folder, name));
}

/** Empty for what is not there: a package that was installed by another means has no list of npm's. */
async function contentOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
