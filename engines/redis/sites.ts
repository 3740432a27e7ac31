/**
 * Two sites on this machine, each a Redis Cluster: one process a server, one for the ways from each
 * site to the other.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster } from 'ioredis';
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
import { readInfo, readRole, type NodeRole } from './ask.ts';
import {
  createNodesFile,
  getNatMap,
  layOut,
  REDIS_SITES,
  type Layout,
  type LayoutOptions,
  type NodeLayout,
  type RedisSite,
} from './layout.ts';
import {
  findFakeClock,
  findRedisProgram,
  type RedisProgram,
  type RedisServerName,
} from './programs.ts';

export interface RedisKind extends LayoutOptions {
  readonly server: RedisServerName;
  /** Whether `setClock` works: with `valkey` only. Default: false. */
  readonly hasFakeClocks?: boolean;
  /** Further arguments of each server, as `['--maxmemory', '10mb']`. Default: none. */
  readonly args?: readonly string[];
}

export interface RedisSitesOptions extends RedisKind {
  /** Data and logs; emptied at the start. */
  readonly folder: string;
  readonly progress: (text: string) => void;
}

/** Options of a client, as ioredis has them. */
type ConnectOptions = Omit<NonNullable<ConstructorParameters<typeof Cluster>[1]>, 'natMap'>;

/** What is needed to find running sites again: plain data. */
export interface RedisSitesState {
  readonly folder: string;
  readonly layout: Layout;
  readonly server: RedisServerName;
  readonly program: RedisProgram;
  readonly fakeClock: string | undefined;
  readonly args: readonly string[];
  readonly servers: Readonly<Record<string, Daemon>>;
  /** By the site of the clients that take these ways. */
  readonly proxies: Readonly<Partial<Record<RedisSite, Daemon>>>;
}

/** How long a master may be silent before its replica is promoted. */
const NODE_TIMEOUT_MS = 1_000;
const SERVING_MS = 60_000;

/**
 * A server keeps nothing on its disk, unless a test saves its data. Each shard stays with its
 * servers.
 */
const SETTINGS = {
  save: '',
  appendonly: 'no',
  bind: LOOPBACK,
  'cluster-enabled': 'yes',
  'cluster-config-file': 'nodes.conf',
  'cluster-node-timeout': NODE_TIMEOUT_MS,
  'cluster-require-full-coverage': 'no',
  'cluster-allow-replica-migration': 'no',
  'cluster-replica-validity-factor': 0,
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': 0,
  'repl-ping-replica-period': 1,
  'rdb-del-sync-files': 'yes',
} as const;

export class RedisSites implements AsyncDisposable {
  readonly #state: Omit<RedisSitesState, 'servers' | 'proxies'> & {
    servers: Record<string, Daemon>;
    proxies: Partial<Record<RedisSite, Daemon>>;
  };

  /** Takes over sites that were started by another process. */
  constructor(state: RedisSitesState) {
    this.#state = { ...state, servers: { ...state.servers }, proxies: { ...state.proxies } };
  }

  /**
   * Starts both sites without data, and waits until they serve.
   *
   * @throws EngineUnavailable if the server is not installed and cannot be downloaded
   */
  static async start({ folder, progress, ...kind }: RedisSitesOptions): Promise<RedisSites> {
    const program = await findRedisProgram(kind.server, progress);
    const fakeClock = kind.hasFakeClocks === true ? await findFakeClock(progress) : undefined;
    const layout = await layOut(kind);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const { server, args = [] } = kind;
    const sites = new RedisSites({
      folder,
      layout,
      server,
      program,
      fakeClock,
      args,
      servers: {},
      proxies: {},
    });
    try {
      progress(`starting ${layout.nodes.length} ${server} servers`);
      for (const node of layout.nodes) sites.#startServer(node);
      await Promise.all([
        sites.#startProxies(),
        ...REDIS_SITES.map((site) => sites.untilServing(site)),
      ]);
      return sites;
    } catch (error) {
      await sites.stop();
      throw error;
    }
  }

  get state(): RedisSitesState {
    return this.#state;
  }

  get shards(): readonly number[] {
    const shards = this.#state.layout.nodes.map(({ shard }) => shard);
    return [...new Set(shards)];
  }

  /** Returns the servers of a site, or of one of its shards. */
  nodes(site: RedisSite, shard?: number): readonly NodeLayout[] {
    const { nodes } = this.#state.layout;
    return nodes.filter(
      (node) => node.site === site && (shard === undefined || node.shard === shard),
    );
  }

  /**
   * Returns the addresses, `host:port`, of the servers of `at` for a client beside `from`. Default:
   * the same site.
   */
  addresses(at: RedisSite, from: RedisSite = at): readonly string[] {
    const natMap = this.natMap(from);
    return this.nodes(at).map(({ port }) => {
      const { host, port: reached } = natMap[`${LOOPBACK}:${port}`] ?? { host: LOOPBACK, port };
      return `${host}:${reached}`;
    });
  }

  /**
   * Returns the option `natMap` of ioredis for a client beside `from`: so redirections take the
   * long way too.
   */
  natMap(from: RedisSite): Record<string, { host: string; port: number }> {
    return getNatMap(this.#state.layout, from);
  }

  /** Connects a client beside `from` with the cluster of `at`. You disconnect it. */
  connect(at: RedisSite, from: RedisSite = at, options: ConnectOptions = {}): Cluster {
    const nodes = this.addresses(at, from).map((address) => {
      const [host, port] = address.split(':') as [string, string];
      return { host, port: Number(port) };
    });
    return new Cluster(nodes, { ...options, natMap: this.natMap(from) });
  }

  /** Returns the present master of a shard; `undefined` if none answers. */
  async master(site: RedisSite, shard: number): Promise<NodeLayout | undefined> {
    const nodes = this.nodes(site, shard);
    const roles = await Promise.all(nodes.map(({ port }) => readRole(port)));
    const epochOf = (node: NodeLayout): number => roles[nodes.indexOf(node)]?.epoch ?? 0;
    const masters = nodes.filter(
      (_, index) => (roles[index] as NodeRole | undefined)?.isMaster === true,
    );
    return masters.toSorted((a, b) => epochOf(b) - epochOf(a))[0];
  }

  isRunning({ name }: NodeLayout): boolean {
    const server = this.#state.servers[name];
    return server !== undefined && isRunning(server);
  }

  /** Sends a signal to a server: `SIGSTOP` freezes it, `SIGCONT` lets it go on. */
  signal({ name }: NodeLayout, signal: NodeJS.Signals): void {
    const server = this.#state.servers[name];
    if (server !== undefined) signalDaemon(server, signal);
  }

  /** Kills a server with -9, and waits until it is gone. It has kept nothing. */
  async kill({ name }: NodeLayout): Promise<void> {
    const server = this.#state.servers[name];
    if (server !== undefined) await killDaemon(server);
  }

  /** Starts a server that was killed, on a copy of the data that `copy` names, or empty. */
  launch(node: NodeLayout, copy?: string): void {
    const data = join(this.dataFolder(node), 'dump.rdb');
    rmSync(data, { force: true });
    if (copy !== undefined) copyFileSync(copy, data);
    this.#startServer(node);
  }

  /** Where a server has its data. */
  dataFolder({ name }: NodeLayout): string {
    return join(this.#state.folder, name);
  }

  /**
   * Resolves when each shard of a site has a master that all its running servers follow, and all of
   * them serve.
   */
  async untilServing(site: RedisSite): Promise<void> {
    if (await waitUntil(() => this.#serves(site), SERVING_MS)) return;
    throw new Error(`the servers of ${site} do not serve; see the logs in ${this.#state.folder}`);
  }

  /**
   * Holds all that clients of `from` send to the other site, and what they get from there.
   * Connections stay open.
   */
  cutLink(from: RedisSite): void {
    const proxy = this.#state.proxies[from];
    if (proxy !== undefined) signalDaemon(proxy, 'SIGSTOP');
  }

  /** Lets go what `cutLink` has held. */
  healLink(from: RedisSite): void {
    const proxy = this.#state.proxies[from];
    if (proxy !== undefined) signalDaemon(proxy, 'SIGCONT');
  }

  /**
   * Moves the clock of a server by `offsetMs` from the true time, within a second.
   *
   * @throws Error if the sites were started without `hasFakeClocks`
   */
  setClock(node: NodeLayout, offsetMs: number): void {
    if (this.#state.fakeClock === undefined)
      throw new Error('setClock: start the sites with hasFakeClocks');
    writeFileSync(this.#clockFile(node), `${offsetMs < 0 ? '' : '+'}${offsetMs / 1000}\n`);
  }

  async stop(): Promise<void> {
    const { servers, proxies } = this.#state;
    await Promise.all([...Object.values(servers), ...Object.values(proxies)].map(stopDaemon));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startProxies(): Promise<void> {
    for (const from of REDIS_SITES) {
      const folder = join(this.#state.folder, `from-${from}`);
      mkdirSync(folder, { recursive: true });
      this.#state.proxies[from] = await startDelays(folder, this.#state.layout.routes[from]);
    }
  }

  async #serves(site: RedisSite): Promise<boolean> {
    const nodes = this.nodes(site).filter((node) => this.isRunning(node));
    if (nodes.length === 0)
      throw new Error(`no server of ${site} runs; see ${this.#logFile(this.nodes(site)[0])}`);
    const states = await Promise.all(
      nodes.map(({ port }) => readInfo(port, 'cluster', 'cluster_state')),
    );
    if (states.some((state) => state !== 'ok')) return false;
    const shards = await Promise.all(this.shards.map((shard) => this.#isComplete(site, shard)));
    return shards.every(Boolean);
  }

  /** Whether a shard has a master, and all its other running servers have caught up with it. */
  async #isComplete(site: RedisSite, shard: number): Promise<boolean> {
    const master = await this.master(site, shard);
    if (master === undefined) return false;
    const others = this.nodes(site, shard).filter(
      (node) => node !== master && this.isRunning(node),
    );
    const links = await Promise.all(
      others.map(({ port }) => readInfo(port, 'replication', 'master_link_status')),
    );
    const ports = await Promise.all(
      others.map(({ port }) => readInfo(port, 'replication', 'master_port')),
    );
    return (
      links.every((link) => link === 'up') && ports.every((port) => port === String(master.port))
    );
  }

  #startServer(node: NodeLayout): void {
    const { layout, program, fakeClock, args } = this.#state;
    const folder = this.dataFolder(node);
    const file = join(folder, 'nodes.conf');
    mkdirSync(folder, { recursive: true });
    if (this.#state.servers[node.name] === undefined)
      writeFileSync(file, createNodesFile(layout, node));
    const settings = { ...SETTINGS, port: node.port, 'cluster-port': node.busPort, dir: folder };
    this.#state.servers[node.name] = startDaemon({
      command: program.command,
      args: [
        ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
        ...args,
      ],
      // A server soon replaces its command line by its name, its address and its mode. Both have
      // the port.
      mark: String(node.port),
      logFile: this.#logFile(node),
      cwd: folder,
      env: {
        ...program.env,
        ...(fakeClock !== undefined && this.#createClockEnv(node, fakeClock)),
      },
    });
  }

  /**
   * Only the time of day is moved, not the clock by which a server measures how long something
   * takes.
   */
  #createClockEnv(node: NodeLayout, fakeClock: string): Record<string, string> {
    const file = this.#clockFile(node);
    writeFileSync(file, '+0\n', { flag: 'a' });
    return {
      LD_PRELOAD: fakeClock,
      FAKETIME_TIMESTAMP_FILE: file,
      // Reading the file at each look at the clock would make a server ten times as slow.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  #clockFile(node: NodeLayout): string {
    return join(this.dataFolder(node), 'clock');
  }

  #logFile(node: NodeLayout | undefined): string {
    return join(this.#state.folder, `${node?.name}.log`);
  }
}
