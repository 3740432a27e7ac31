/** A primary of PostgreSQL with streaming replicas, and what happens to them in the field. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type QueryResult } from 'pg';
import { startDelays } from '../delays.ts';
import { LOOPBACK } from '../ports.ts';
import {
  isRunning,
  killDaemon,
  signalDaemon,
  startDaemon,
  stopDaemon,
  waitUntil,
  type Daemon,
} from '../process.ts';
import type { WanPreset } from '../wan.ts';
import { layOut, type PostgresLayout, type ServerLayout } from './layout.ts';
import {
  findPostgres,
  findUser,
  runProgram,
  type PostgresPrograms,
  type SystemUser,
} from './programs.ts';

export interface PostgresKind {
  readonly replicas: number;
  readonly wan: WanPreset;
}

export interface PostgresOptions extends PostgresKind {
  readonly folder: string;
  readonly progress: (text: string) => void;
}

/** What another process needs to take over. */
export interface PostgresState {
  readonly folder: string;
  readonly layout: PostgresLayout;
  readonly programs: PostgresPrograms;
  readonly user: SystemUser | undefined;
  readonly servers: Readonly<Record<string, Daemon>>;
  readonly delays: Daemon | undefined;
}

const USER = 'postgres';
const SERVING_MS = 60_000;

/** What a crash of the machine would lose is of no interest here. */
const SETTINGS = {
  listen_addresses: LOOPBACK,
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '16MB',
  max_connections: '300',
  wal_level: 'replica',
  wal_keep_size: '256MB',
  hot_standby: 'on',
  wal_retrieve_retry_interval: '200ms',
  max_standby_streaming_delay: '1s',
  log_min_messages: 'warning',
} as const;

export class PostgresServers implements AsyncDisposable {
  readonly #state: Omit<PostgresState, 'servers' | 'delays'> & {
    servers: Record<string, Daemon>;
    delays: Daemon | undefined;
  };

  /** Takes over servers that were started by another process. */
  constructor(state: PostgresState) {
    this.#state = { ...state, servers: { ...state.servers } };
  }

  /**
   * Starts a primary without data and its replicas, and waits until they stream.
   *
   * @throws EngineUnavailable if PostgreSQL is not installed and cannot be downloaded
   */
  static async start({ folder, progress, ...kind }: PostgresOptions): Promise<PostgresServers> {
    const programs = await findPostgres(progress);
    const [layout, user] = await Promise.all([layOut(kind), findUser()]);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const servers = new PostgresServers({
      folder,
      layout,
      programs,
      user,
      servers: {},
      delays: undefined,
    });
    try {
      progress(`starting a primary and ${kind.replicas} replicas`);
      await servers.#startAll();
      return servers;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  get state(): PostgresState {
    return this.#state;
  }

  get replicas(): readonly ServerLayout[] {
    return this.#state.layout.servers.slice(1);
  }

  server(name: string): ServerLayout {
    const found = this.#state.layout.servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`there is no server "${name}"`);
    return found;
  }

  /**
   * Returns how a client in Ireland connects, with the delays between; `port` is another way to it.
   */
  connection(
    name: string,
    port: number = this.server(name).clientPorts.ireland,
  ): ConnectionOptions {
    return { host: LOOPBACK, port, user: USER, database: 'postgres' };
  }

  /**
   * Runs one statement at a server, over a connection of its own without delays: an operator's way.
   */
  async query(name: string, text: string, values: unknown[] = []): Promise<QueryResult['rows']> {
    const client = new Client(this.connection(name, this.server(name).port));
    client.on('error', () => {}); // The statement fails with it.
    await client.connect();
    try {
      const { rows } = await client.query(text, values);
      return rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  isRunning(name: string): boolean {
    const server = this.#state.servers[name];
    return server !== undefined && isRunning(server);
  }

  /** Kills a server with -9. Its other processes notice that. */
  async kill(name: string): Promise<void> {
    const server = this.#state.servers[name];
    if (server !== undefined) await killDaemon(server);
  }

  /**
   * Freezes a server and its processes, as a host that hangs: it accepts connections and answers
   * nothing.
   */
  freeze(name: string): void {
    this.#signalAll(name, 'SIGSTOP');
  }

  /** Lets a frozen server go on. */
  thaw(name: string): void {
    this.#signalAll(name, 'SIGCONT');
  }

  /** The processes of connections are in sessions of their own. */
  #signalAll(name: string, signal: NodeJS.Signals): void {
    const server = this.#state.servers[name];
    if (server === undefined || !isRunning(server)) return;
    process.kill(server.pid, signal); // First, so that it starts no others.
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    for (const [, pid, parent] of table.matchAll(/^\s*(\d+)\s+(\d+)/gm))
      if (Number(parent) === server.pid) signalProcess(Number(pid), signal);
  }

  /** The folder with the data and the settings of a server. */
  dataFolder(name: string): string {
    return this.#dataFolder(name);
  }

  /** Starts a server on its data, and waits until it serves. */
  async launch(name: string): Promise<void> {
    await this.#serve(name);
  }

  /** Stops the replay at a replica: it gets stale. */
  async pauseReplay(name: string): Promise<void> {
    await this.query(name, 'select pg_wal_replay_pause()');
    const isPaused = async (): Promise<boolean> => {
      const [row] = await this.query(name, 'select pg_get_wal_replay_pause_state() as state');
      return row?.['state'] === 'paused';
    };
    if (!(await waitUntil(isPaused, SERVING_MS)))
      throw new Error(`the replay of ${name} does not stop`);
  }

  async resumeReplay(name: string): Promise<void> {
    await this.query(name, 'select pg_wal_replay_resume()');
  }

  /** Waits until a replica has replayed all that the primary has written. */
  async untilCaughtUp(name: string, primary: string = 'primary'): Promise<void> {
    const [row] = await this.query(primary, 'select pg_current_wal_flush_lsn()::text as lsn');
    const hasReplayed = async (): Promise<boolean> => {
      const text = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as reached';
      const [state] = await this.query(name, text, [row?.['lsn']]);
      return state?.['reached'] === true;
    };
    if (!(await waitUntil(hasReplayed, SERVING_MS))) throw new Error(`${name} does not catch up`);
  }

  /** Kills the primary, promotes a replica, and lets the others follow it. */
  async failOver(to: string): Promise<void> {
    await this.kill('primary');
    await this.query(to, 'select pg_promote()');
    for (const { name } of this.replicas) if (name !== to) await this.#follow(name, to);
  }

  async stop(): Promise<void> {
    const { servers, delays } = this.#state;
    // SIGTERM would wait for clients.
    for (const server of Object.values(servers)) signalDaemon(server, 'SIGINT');
    const all = [...Object.values(servers), ...(delays === undefined ? [] : [delays])];
    await Promise.all(all.map(stopDaemon));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startAll(): Promise<void> {
    const { folder, layout, programs, user } = this.#state;
    this.#makeFolder('primary');
    const args = [
      '-D',
      this.#dataFolder('primary'),
      '-U',
      USER,
      '-A',
      'trust',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ];
    const delays = startDelays(folder, layout.routes);
    await runProgram(programs, 'initdb', args, user);
    await this.#serve('primary');
    this.#state.delays = await delays;
    await Promise.all(this.replicas.map(({ name }) => this.#startReplica(name)));
  }

  async #startReplica(name: string): Promise<void> {
    const { programs, user } = this.#state;
    const source = `host=${LOOPBACK} port=${this.server('primary').port} user=${USER}`;
    const data = this.#dataFolder(name);
    this.#makeFolder(name);
    const args = ['-d', source, '-D', data, '-c', 'fast', '--no-sync'];
    await runProgram(programs, 'pg_basebackup', args, user);
    appendFileSync(join(data, 'standby.signal'), '', { mode: 0o600 });
    this.#own(join(data, 'standby.signal'));
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = '${this.#link(name, 'primary')}'\n`,
    );
    await this.#serve(name);
    await this.#untilStreaming(name);
  }

  async #follow(name: string, primary: string): Promise<void> {
    await this.query(name, `alter system set primary_conninfo = '${this.#link(name, primary)}'`);
    await this.query(name, 'select pg_reload_conf()');
    await this.#untilStreaming(name);
  }

  #link(from: string, to: string): string {
    const port = this.#state.layout.links[from]?.[to];
    return `host=${LOOPBACK} port=${port} user=${USER} application_name=${from}`;
  }

  async #untilStreaming(name: string): Promise<void> {
    const isStreaming = async (): Promise<boolean> => {
      const rows = await this.query(
        name,
        "select 1 from pg_stat_wal_receiver where status = 'streaming'",
      );
      return rows.length === 1;
    };
    if (await waitUntil(isStreaming, SERVING_MS)) return;
    throw new Error(`${name} does not follow its primary; see ${this.#logFile(name)}`);
  }

  /**
   * Processes of a server that was killed may hold its data for a moment: then it ends, and is
   * started again.
   */
  async #serve(name: string): Promise<void> {
    const serves = async (): Promise<boolean> => {
      if (!this.isRunning(name)) this.#startServer(name);
      return await this.query(name, 'select 1').then(
        () => true,
        () => false,
      );
    };
    if (await waitUntil(serves, SERVING_MS, 200)) return;
    throw new Error(`${name} does not serve; see ${this.#logFile(name)}`);
  }

  #startServer(name: string): void {
    const { programs, user, folder } = this.#state;
    const data = this.#dataFolder(name);
    const settings = Object.entries(SETTINGS).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    this.#state.servers[name] = startDaemon({
      command: join(programs.folder, 'postgres'),
      args: ['-D', data, '-p', String(this.server(name).port), ...settings],
      mark: data,
      logFile: this.#logFile(name),
      cwd: folder,
      env: programs.env,
      user,
    });
  }

  #makeFolder(name: string): void {
    const data = this.#dataFolder(name);
    mkdirSync(data, { recursive: true, mode: 0o700 });
    this.#own(data);
  }

  #own(path: string): void {
    const { user } = this.#state;
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }

  #dataFolder(name: string): string {
    return join(this.#state.folder, name);
  }

  #logFile(name: string): string {
    return join(this.#state.folder, `${name}.log`);
  }

  /** Returns what a server has logged. */
  readLog(name: string): string {
    return readFileSync(this.#logFile(name), 'utf8');
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It has ended since.
  }
}

/** As `pg` takes it. */
export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}
