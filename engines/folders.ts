/**
 * Where engines keep downloads, data, logs and what they know about themselves: a folder that git
 * ignores.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = fileURLToPath(new URL('../.cache/', import.meta.url));

/**
 * The folder of downloads, kept between runs. `CORRECTABLES_CACHE` moves it, for several work trees
 * to share.
 */
export function downloadsFolder(name: string): string {
  return made(join(process.env['CORRECTABLES_CACHE'] ?? cache, 'downloads', name));
}

/**
 * The folder of one running engine: data, logs, state. `CORRECTABLES_RUN` moves it, apart from what
 * others started.
 */
export function runFolder(name: string): string {
  return made(join(process.env['CORRECTABLES_RUN'] ?? cache, 'engines', name));
}

/** What `up` wrote down; undefined where the engine is down. */
export function readState<T>(name: string): T | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(name), 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeState(name: string, state: unknown): void {
  writeFileSync(stateFile(name), `${JSON.stringify(state, null, 2)}\n`);
}

export function forgetState(name: string): void {
  rmSync(stateFile(name), { force: true });
}

function stateFile(name: string): string {
  return join(runFolder(name), 'state.json');
}

function made(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
