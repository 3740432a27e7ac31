/** One server of its own on a free loopback port, for benchmarks and tests that need no cluster. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, LOOPBACK } from '../ports.ts';
import { findRedisProgram, readRedisVersion, type RedisServerName } from './programs.ts';

/** A running server. */
export interface RunningRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface SingleServerOptions {
  /** Whether an append-only file is synced at each write. Otherwise the server keeps nothing. */
  readonly durable: boolean;
  /** Default: `redis`. */
  readonly server?: RedisServerName;
  /** Further arguments of the server, as `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[];
}

/**
 * Starts a server, and resolves when it accepts connections. It ends with this process, at the
 * latest.
 *
 * @throws EngineUnavailable if it is not installed and cannot be downloaded
 */
export async function startRedis({
  durable,
  server = 'redis',
  args: others = [],
}: SingleServerOptions): Promise<RunningRedis> {
  const { command, env } = await findRedisProgram(server);
  const folder = await mkdtemp(join(tmpdir(), 'correctables-redis-'));
  const [port] = (await freePorts(1)) as [number];
  const args = [
    '--port',
    String(port),
    '--bind',
    LOOPBACK,
    '--dir',
    folder,
    ...keepingArgs(durable),
    ...others,
  ];
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  const endNow = (): void => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', endNow);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${server}-server ended with ${String(code)}`)));
  });
  const stop = async (): Promise<void> => {
    process.off('exit', endNow);
    child.kill();
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([accepting(port, () => child.exitCode !== null), failed]);
  } catch (error) {
    process.off('exit', endNow);
    if (child.exitCode === null) child.kill();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  failed.catch(() => {});
  return { url: `redis://${LOOPBACK}:${port}`, pid: child.pid as number, stop };
}

/**
 * Returns what makes a server keep all of it before it answers, or nothing at all, which is the
 * least that it can do.
 */
export function keepingArgs(durable: boolean): readonly string[] {
  return [
    '--save',
    '',
    ...(durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']),
  ];
}

/** Returns the version of the Redis that `startRedis` starts. */
export async function redisVersion(): Promise<string> {
  return await readRedisVersion(await findRedisProgram('redis'));
}

/** Resolves once the port accepts connections; gives up when `isOver`. */
async function accepting(port: number, isOver: () => boolean): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = createConnection({ port, host: LOOPBACK });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    if (isOver()) throw new Error('the server ended before it accepted connections');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
