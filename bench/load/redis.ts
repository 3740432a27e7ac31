/** A redis-server of its own on a free loopback port: the installed one, or Debian's, unpacked into the cache folder. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '../../engines/ports.ts';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../.cache/redis', import.meta.url));
/** The server's package and those of its libraries that a small system lacks. */
const PACKAGES = ['redis-server', 'redis-tools', 'libatomic1', 'libjemalloc2', 'liblzf1'];
const LIBRARIES = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu'];

/** A running server. */
export interface RunningRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a server: with an append-only file that is synced at every write, or keeping nothing. */
export async function startRedis({ durable }: { readonly durable: boolean }): Promise<RunningRedis> {
  const { command, libraries } = await findRedis();
  const folder = await mkdtemp(join(tmpdir(), 'bench-redis-'));
  const [port] = (await freePorts(1)) as [number];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...keepingArgs(durable)];
  const env = { ...process.env, ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) };
  const child = spawn(command, args, { stdio: 'ignore', env });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${String(code)}`)));
  });
  const stop = async (): Promise<void> => {
    child.kill();
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([accepting(port, () => child.exitCode !== null), failed]);
  } catch (error) {
    if (child.exitCode === null) child.kill();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  failed.catch(() => {});
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid as number, stop };
}

/** What it keeps: all of it before it answers, or nothing at all, which is the least that it can do. */
export function keepingArgs(durable: boolean): readonly string[] {
  return ['--save', '', ...(durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'])];
}

/** The version of the server that is started. */
export async function redisVersion(): Promise<string> {
  const { command, libraries } = await findRedis();
  const env = { ...process.env, ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) };
  const { stdout } = await run(command, ['--version'], { env });
  return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown';
}

async function findRedis(): Promise<{ command: string; libraries: string | undefined }> {
  const installed = await run('redis-server', ['--version']).catch(() => undefined);
  if (installed !== undefined) return { command: 'redis-server', libraries: undefined };
  const command = join(cache, 'usr/bin/redis-server');
  if (!existsSync(command)) await download();
  return { command, libraries: LIBRARIES.map((folder) => join(cache, folder)).join(':') };
}

/** Fetches the packages beside the cache folder and moves them there when all are unpacked. */
async function download(): Promise<void> {
  const parts = `${cache}.${process.pid}`;
  try {
    await mkdir(parts, { recursive: true });
    await run('apt-get', ['download', ...PACKAGES], { cwd: parts });
    for (const file of await readdir(parts)) await run('dpkg', ['-x', file, '.'], { cwd: parts });
    await rename(parts, cache);
  } catch (cause) {
    await rm(parts, { recursive: true, force: true });
    throw new Error('This benchmark compares with Redis: install redis-server, or run it on Debian.', { cause });
  }
}

/** Resolves once the port accepts connections; gives up when `isOver`. */
async function accepting(port: number, isOver: () => boolean): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = createConnection({ port, host: '127.0.0.1' });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    if (isOver()) throw new Error('redis-server ended before it accepted connections');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
