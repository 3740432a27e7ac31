/**
 * One server of Redis that can be killed, frozen and started again at its port, with its data or
 * without.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { freePorts, LOOPBACK } from '../../../../engines/ports.ts';
import { waitUntil } from '../../../../engines/process.ts';
import { ask, readInfo } from '../../../../engines/redis/ask.ts';
import { findRedisProgram } from '../../../../engines/redis/programs.ts';

const START_MS = 20_000;

/** Each write is in a file before it is answered. */
export const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

export class FaultyRedis {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #program: Awaited<ReturnType<typeof findRedisProgram>>;
  #child: ChildProcess | undefined;

  private constructor(
    port: number,
    args: readonly string[],
    program: Awaited<ReturnType<typeof findRedisProgram>>,
  ) {
    this.port = port;
    this.#args = args;
    this.#program = program;
  }

  /** Starts a server until the test ends. By default, it keeps nothing. */
  static async open(args: readonly string[] = []): Promise<FaultyRedis> {
    const program = await findRedisProgram('redis');
    const folder = await mkdtemp(join(tmpdir(), 'correctables-redis-'));
    const [port] = (await freePorts(1)) as [number];
    const common = ['--port', String(port), '--bind', LOOPBACK, '--dir', folder, '--save', ''];
    const sync = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];
    const server = new FaultyRedis(port, [...common, ...sync, ...args], program);
    onTestFinished(async () => {
      server.signal('SIGCONT');
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    });
    await server.start();
    return server;
  }

  get address(): string {
    return `${LOOPBACK}:${this.port}`;
  }

  async start(): Promise<void> {
    const { command, env } = this.#program;
    this.#child = spawn(command, this.#args, { stdio: 'ignore', env: { ...process.env, ...env } });
    const isUp = (): Promise<boolean> =>
      ask(this.port, 'PING').then(
        () => true,
        // It serves, and asks for a password.
        (error: Error) => /NOAUTH/.test(error.message),
      );
    if (!(await waitUntil(isUp, START_MS))) throw new Error(`no Redis at ${this.address}`);
  }

  /** Kills the process. What it has not written to its file is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  ask(command: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return ask(this.port, command, ...args);
  }

  /** Makes it a replica, and waits until it has all that the primary has. */
  async follow({ port }: FaultyRedis): Promise<void> {
    await this.ask('REPLICAOF', LOOPBACK, port);
    await this.untilCaughtUp(port);
  }

  async untilCaughtUp(port: number): Promise<void> {
    const target = Number(await readInfo(port, 'replication', 'master_repl_offset'));
    const hasAll = async (): Promise<boolean> =>
      (await readInfo(this.port, 'replication', 'master_link_status')) === 'up' &&
      Number(await readInfo(this.port, 'replication', 'slave_repl_offset')) >= target;
    if (!(await waitUntil(hasAll, START_MS))) throw new Error(`${this.address} does not follow`);
  }

  /** Makes it a primary. */
  promote(): Promise<unknown> {
    return this.ask('REPLICAOF', 'NO', 'ONE');
  }

  /** Opens connections until the server accepts no more. Returns what closes them. */
  async fill(): Promise<() => void> {
    const clients: Redis[] = [];
    for (let isFull = false; !isFull;) {
      const client = new Redis({
        host: LOOPBACK,
        port: this.port,
        lazyConnect: true,
        retryStrategy: null,
      });
      client.on('error', () => {}); // It is full.
      clients.push(client);
      isFull = await client.connect().then(
        () => false,
        () => true,
      );
    }
    return () => clients.forEach((client) => client.disconnect());
  }
}
