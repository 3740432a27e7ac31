/** An empty project with the packed package in it, and the Node versions that it is tried with. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const execute = promisify(execFile);
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Packs this package and installs the archive, and `others`, into the folder `project`. */
export async function installPacked(
  project: string,
  others: readonly string[] = [],
): Promise<void> {
  const { archive, size } = await pack(project);
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  await install(project, [archive, ...others]);
  console.log(`ok  packed and installed: ${basename(archive)}, ${Math.round(size / 1024)} kB`);
}

/**
 * Packs this package into the folder `project`. Returns the path of the archive, and its size in
 * bytes.
 */
export async function pack(
  project: string,
): Promise<{ readonly archive: string; readonly size: number }> {
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: root,
  });
  const [{ filename, size }] = JSON.parse(stdout) as [{ filename: string; size: number }];
  return { archive: join(project, filename), size };
}

/** Installs packages; `args` may have options of npm too. */
export async function install(project: string, args: readonly string[]): Promise<void> {
  await execute('npm', ['install', '--no-audit', '--no-fund', ...args], { cwd: project });
}

/** The path of Node in this version, fetched as the npm package `node`. */
export async function installNode(project: string, version: string): Promise<string> {
  const name = `node-${version}`;
  await install(project, [`${name}@npm:node@${version}`]);
  return join(project, 'node_modules', name, 'bin', 'node');
}
