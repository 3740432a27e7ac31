/**
 * A copy of the built package of which a few lines are replaced: another version, or one with a
 * bug.
 */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each text stands once in the built package. */
export type Replacements = readonly (readonly [from: string, to: string])[];

/** Copies the built package. Returns the path of its command line. */
export async function copyPackage(directory: string, replacements: Replacements): Promise<string> {
  const dist = join(directory, 'dist');
  await mkdir(directory, { recursive: true });
  await cp(join(ROOT, 'dist'), dist, {
    recursive: true,
    filter: (from) => !/\.(map|d\.ts)$/.test(from),
  });
  await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const [from, to] of replacements) await replaceOnce(dist, from, to);
  return join(dist, 'cli', 'main.js');
}

async function replaceOnce(dist: string, from: string, to: string): Promise<void> {
  const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'));
  const found: (readonly [file: string, text: string])[] = [];
  for (const name of files) {
    const text = await readFile(join(dist, name), 'utf8');
    if (text.includes(from)) found.push([join(dist, name), text]);
  }
  const [file = '', text = ''] = found[0] ?? [];
  if (found.length !== 1 || text.split(from).length !== 2) {
    throw new Error(
      `"${from}" has to stand once in the built package, to be replaced: change what names it`,
    );
  }
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}
