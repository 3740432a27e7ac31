/**
 * The programs of PostgreSQL: those that are installed, or Debian's, unpacked without installing
 * anything.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { downloadsFolder } from '../folders.ts';
import { createLibraryPath, unpack, unpackDebian } from '../unpack.ts';

const run = promisify(execFile);

/** Where Debian has the servers, by version. Only tools for clients are on the path. */
const DEBIAN_FOLDER = 'usr/lib/postgresql';
const DEBIAN_VERSION = '15';
const DEBIAN_PACKAGES = [
  `postgresql-${DEBIAN_VERSION}`,
  `postgresql-client-${DEBIAN_VERSION}`,
  'libpq5',
];
const HOW_TO_GET =
  'install PostgreSQL 14 or later, or run this on Debian, whose package is unpacked (after apt-get update)';

export interface PostgresPrograms {
  /** The folder with `initdb`, `postgres` and `pg_basebackup`; empty if they are on the path. */
  readonly folder: string;
  /** What a process needs beside the variables of this one. */
  readonly env: Readonly<Record<string, string>>;
}

/** A user other than root, whose processes PostgreSQL accepts. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the programs to start. The first time, they may be downloaded.
 *
 * @throws EngineUnavailable if they are not installed and cannot be downloaded
 */
export async function findPostgres(progress: (text: string) => void): Promise<PostgresPrograms> {
  const isOnPath = await run('postgres', ['--version']).then(
    () => true,
    () => false,
  );
  if (isOnPath) return { folder: '', env: {} };
  const installed = findVersion('/');
  if (installed !== undefined) return { folder: installed, env: {} };

  const folder = join(downloadsFolder('postgres'), 'debian');
  await unpack(folder, {
    name: 'postgresql',
    howToGet: HOW_TO_GET,
    fill: async (parts) => {
      progress(`downloading Debian's package postgresql-${DEBIAN_VERSION} (once)`);
      await unpackDebian(parts, DEBIAN_PACKAGES);
    },
  });
  return { folder: findVersion(folder) as string, env: createLibraryPath(folder) };
}

/** Returns the version of the servers, as `15.8`. */
export async function readPostgresVersion(): Promise<string> {
  const text = await runProgram(await findPostgres(() => {}), 'postgres', ['--version'], undefined);
  return /\d[\d.]*/.exec(text)?.[0] ?? text.trim();
}

/** Returns the newest version below a root of Debian. */
function findVersion(root: string): string | undefined {
  const folder = join(root, DEBIAN_FOLDER);
  if (!existsSync(folder)) return undefined;
  const versions = readdirSync(folder).toSorted((a, b) => Number(b) - Number(a));
  const bins = versions.map((version) => join(folder, version, 'bin'));
  return bins.find((bin) => existsSync(join(bin, 'postgres')));
}

/**
 * PostgreSQL refuses to run as root, as processes of a container often do. Returns another user
 * then.
 */
export async function findUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]).catch(
      () => undefined,
    );
    if (ids === undefined) continue;
    const [uid = 0, gid = 0] = ids.map(({ stdout }) => Number(stdout));
    return { uid, gid };
  }
  throw new Error(
    'PostgreSQL does not run as root: create the user postgres, or run this as another user',
  );
}

/** Runs a program to its end, as the user of the servers. */
export async function runProgram(
  { folder, env }: PostgresPrograms,
  name: string,
  args: readonly string[],
  user: SystemUser | undefined,
): Promise<string> {
  const { stdout } = await run(join(folder, name), [...args], {
    env: { ...process.env, ...env },
    ...user,
  });
  return stdout;
}
