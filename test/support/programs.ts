/**
 * Programs of this package that are written in TypeScript, built once: a start through a loader
 * takes seconds.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { processExists } from '../../src/server/node/storage/disk/directory-lock.ts';
import { root } from './run-program.ts';

const made = new Map<string, Promise<string>>();
let folder: string | undefined;

/**
 * One file of JavaScript that does what the module does, for `node`; packages, this one too, stay
 * outside. It is gone when this process ends.
 *
 * @param entry a path from the package's folder, as in `demo/tickets/cli.ts`
 * @returns the file's path
 */
export function built(entry: string): Promise<string> {
  const known = made.get(entry) ?? buildOf(entry);
  made.set(entry, known);
  return known;
}

async function buildOf(entry: string): Promise<string> {
  const outfile = join(buildFolder(), `${entry.replaceAll('/', '-')}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [places],
  });
  return outfile;
}

/** Modules find files beside them, wherever the build is. */
const places: Plugin = {
  name: 'places',
  setup: (building) => {
    building.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const place = JSON.stringify(pathToFileURL(path).href);
      return {
        loader: 'ts',
        contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', place),
      };
    });
  },
};

/** In the package's folder, from where the names of packages lead to what is installed there. */
function buildFolder(): string {
  if (folder !== undefined) return folder;
  const builds = join(root, 'build');
  mkdirSync(builds, { recursive: true });
  // A process that was killed took nothing away.
  for (const name of readdirSync(builds)) {
    const [, pid] = /^programs-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !processExists(Number(pid)))
      rmSync(join(builds, name), { recursive: true, force: true });
  }
  const opened = join(builds, `programs-${process.pid}`);
  mkdirSync(opened, { recursive: true });
  process.once('exit', () => rmSync(opened, { recursive: true, force: true }));
  return (folder = opened);
}
