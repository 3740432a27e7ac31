/** Programs that are unpacked into the downloads folder without installing anything. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EngineUnavailable } from './engine.ts';

const run = promisify(execFile);

export interface Unpacking {
  /** The program, for the error. */
  readonly name: string;
  readonly howToGet: string;
  /** Fills a folder that will be moved to its place. */
  readonly fill: (folder: string) => Promise<void>;
}

/** By folder: several servers are started at once, and the first one unpacks for all. */
const unpacking = new Map<string, Promise<void>>();

/**
 * Fills a folder, unless it exists.
 *
 * @throws EngineUnavailable if the program cannot be downloaded
 */
export async function unpack(folder: string, options: Unpacking): Promise<void> {
  if (existsSync(folder)) return;
  const started =
    unpacking.get(folder) ?? unpackNow(folder, options).finally(() => unpacking.delete(folder));
  unpacking.set(folder, started);
  await started;
}

/** Downloads packages of Debian, and unpacks them into the folder. */
export async function unpackDebian(folder: string, packages: readonly string[]): Promise<void> {
  await run('apt-get', ['download', ...packages], { cwd: folder });
  for (const file of await readdir(folder)) await run('dpkg', ['-x', file, '.'], { cwd: folder });
}

/** Folders of libraries in Debian's packages, by processor. */
export const LIBRARY_FOLDERS = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu'] as const;

/**
 * Returns the variables with which a program finds the libraries of packages that were unpacked
 * into the folder.
 */
export function createLibraryPath(folder: string): { readonly LD_LIBRARY_PATH: string } {
  return { LD_LIBRARY_PATH: LIBRARY_FOLDERS.map((path) => join(folder, path)).join(':') };
}

/**
 * Fills a folder beside and moves it at the end: two processes that unpack at once do no harm to
 * each other.
 */
async function unpackNow(folder: string, { name, howToGet, fill }: Unpacking): Promise<void> {
  const parts = `${folder}.${process.pid}`;
  try {
    await mkdir(parts, { recursive: true });
    await fill(parts);
    await rename(parts, folder);
  } catch (cause) {
    if (!existsSync(folder))
      throw new EngineUnavailable(`${name} is not installed: ${howToGet}`, { cause });
  } finally {
    await rm(parts, { recursive: true, force: true });
  }
}
