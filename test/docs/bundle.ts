/**
 * Runs documentation code: bundles it with the package's public entries in their place, from
 * source.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * `correctables/…` as the published package resolves it: an entry is a folder's index or a file of
 * its own.
 */
export function getSource(specifier: string): string {
  const subpath = specifier.replace(/^correctables\/?/, '');
  const candidates = [`${root}src/${subpath}/index.ts`, `${root}src/${subpath}.ts`];
  const found =
    subpath === '' ? `${root}src/index.ts` : candidates.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`no public entry '${specifier}'`);
  return found;
}

const publicEntries: Plugin = {
  name: 'public-entries',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^correctables(\/|$)/ }, ({ path }) => ({
      path: getSource(path),
    }));
  },
};

/** The code with all that it imports of this package, for Node. */
export async function bundle(code: string, name: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, loader: 'ts', resolveDir: root, sourcefile: name },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
    packages: 'external',
    plugins: [publicEntries],
  });
  return outputFiles[0]?.text ?? '';
}

/** What the code prints, run by Node in a process of its own. Throws when it fails or complains. */
export async function output(
  code: string,
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const script = await bundle(code, name);
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-'], {
    cwd: root,
    env,
  });
  running.child.stdin?.end(script);
  const { stdout, stderr } = await running;
  if (stderr !== '') throw new Error(`${name} wrote to stderr:\n${stderr}`);
  return stdout;
}

/** What a module of docs/listings exports, loaded into this process. */
export async function load<M>(name: string): Promise<M> {
  return loadCode(
    await readFile(new URL(`../../docs/listings/${name}.ts`, import.meta.url), 'utf8'),
    name,
  );
}

/** What a module with this code exports, loaded into this process. */
export async function loadCode<M>(code: string, name: string): Promise<M> {
  await mkdir(join(root, 'build'), { recursive: true });
  const folder = await mkdtemp(join(root, 'build/listing-'));
  try {
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, await bundle(code, `${name}.ts`));
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as M;
  } finally {
    await rm(folder, { recursive: true });
  }
}
