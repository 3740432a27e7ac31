/** A ZooKeeper ensemble on this machine: one process a server, one for all delays. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDelays } from '../delays.ts';
import { requireCommand, librariesOf } from '../maven.ts';
import { LOOPBACK } from '../ports.ts';
import {
  isRunning,
  signalDaemon,
  startDaemon,
  stopDaemon,
  waitUntil,
  type Daemon,
} from '../process.ts';
import type { Site } from '../wan.ts';
import { CZK_MAIN, czkJar } from './czk.ts';
import { modeOf, type Mode } from './four-letters.ts';
import { configOf, layOut, type Layout, type LayoutOptions, type NodeLayout } from './layout.ts';

export interface EnsembleOptions extends LayoutOptions {
  /** Data, logs and configuration; emptied at the start. */
  readonly folder: string;
  readonly progress: (text: string) => void;
  /** More lines for the configuration of each server. None unless given. */
  readonly settings?: readonly string[];
}

/** What is needed to find a running ensemble again: plain data. */
export interface EnsembleState {
  readonly folder: string;
  readonly layout: Layout;
  readonly libraries: string;
  /** The jar with preliminary replies, where the servers have it. */
  readonly czk: string | undefined;
  readonly settings: readonly string[];
  readonly servers: Partial<Record<Site, Daemon>>;
  readonly proxy: Daemon | undefined;
}

const SERVING_MS = 60_000;
const MAIN = {
  one: 'org.apache.zookeeper.server.ZooKeeperServerMain',
  many: 'org.apache.zookeeper.server.quorum.QuorumPeerMain',
};
const JVM = ['-Xms32m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const QUIET = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=info',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];

export class Ensemble implements AsyncDisposable {
  readonly #state: { -readonly [K in keyof EnsembleState]: EnsembleState[K] };

  /** Takes over an ensemble that was started by another process. */
  constructor(state: EnsembleState) {
    this.#state = { ...state, servers: { ...state.servers } };
  }

  /**
   * Starts an ensemble without data whose leader is the one asked for, and waits until all its
   * servers serve.
   */
  static async start({ folder, progress, ...options }: EnsembleOptions): Promise<Ensemble> {
    requireCommand('java', 'ZooKeeper runs on Java: install a JDK or JRE, version 11 or later');
    const libraries = await librariesOf(
      fileURLToPath(new URL('pom.xml', import.meta.url)),
      progress,
    );
    const czk = options.czk === true ? await czkJar(progress) : undefined;
    const layout = await layOut(options);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const { settings = [] } = options;
    const ensemble = new Ensemble({
      folder,
      layout,
      libraries,
      czk,
      settings,
      servers: {},
      proxy: undefined,
    });
    try {
      await ensemble.#startAll(progress);
      return ensemble;
    } catch (error) {
      await ensemble.stop();
      throw error;
    }
  }

  get state(): EnsembleState {
    return this.#state;
  }

  get sites(): Site[] {
    return this.#state.layout.nodes.map(({ site }) => site);
  }

  /**
   * The address, `host:port`, of the server at `at` for a client beside the site `from` (unless
   * given, the same).
   */
  address(at: Site, from: Site = at): string {
    return `${LOOPBACK}:${this.#state.layout.clientPorts[from][at]}`;
  }

  /** All addresses for a client beside `from`: its own server first. */
  connectString(from: Site): string {
    const sites = [...this.sites].sort((a, b) => Number(b === from) - Number(a === from));
    return sites.map((site) => this.address(site, from)).join(',');
  }

  /** What part each server plays now; undefined for one that does not serve. */
  async modes(): Promise<Partial<Record<Site, Mode | undefined>>> {
    const { nodes } = this.#state.layout;
    const modes = await Promise.all(
      nodes.map(async (node) => [node.site, await modeOf(node.clientPort)] as const),
    );
    return Object.fromEntries(modes);
  }

  /** The site of the present leader. */
  async leader(): Promise<Site | undefined> {
    return this.sites.find(
      (
        (modes) => (site: Site) =>
          isLeading(modes[site])
      )(await this.modes()),
    );
  }

  isRunning(site: Site): boolean {
    const server = this.#state.servers[site];
    return server !== undefined && isRunning(server);
  }

  /**
   * Sends a signal to a server: `SIGKILL` kills it, `SIGSTOP` freezes it, `SIGCONT` lets it go on.
   */
  signal(site: Site, signal: NodeJS.Signals): void {
    const server = this.#state.servers[site];
    if (server !== undefined) signalDaemon(server, signal);
  }

  /** Starts a server that was killed, on its old data, and waits until it serves. */
  async restart(site: Site): Promise<void> {
    const server = this.#state.servers[site];
    if (server !== undefined) await stopDaemon(server);
    const node = this.#node(site);
    this.#startServer(node);
    await this.untilServing(node.site);
  }

  /** Resolves when the server serves. */
  async untilServing(site: Site): Promise<void> {
    const { clientPort } = this.#node(site);
    const serves = async (): Promise<boolean> => {
      if (!this.isRunning(site))
        throw new Error(`the ZooKeeper server of ${site} ended; see ${this.#logFile(site)}`);
      return (await modeOf(clientPort)) !== undefined;
    };
    if (await waitUntil(serves, SERVING_MS)) return;
    throw new Error(`the ZooKeeper server of ${site} does not serve; see ${this.#logFile(site)}`);
  }

  async stop(): Promise<void> {
    const { servers, proxy } = this.#state;
    const daemons = [...Object.values(servers), ...(proxy === undefined ? [] : [proxy])];
    await Promise.all(daemons.map(stopDaemon));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startAll(progress: (text: string) => void): Promise<void> {
    const { layout } = this.#state;
    if (layout.routes.length > 0)
      this.#state.proxy = await startDelays(this.#state.folder, layout.routes);
    // Two form a majority and, without data, elect the higher id, the leader asked for; then the
    // others join.
    const byVote = [...layout.nodes].sort(
      (a, b) => Number(a.isObserver) - Number(b.isObserver) || b.id - a.id,
    );
    const [leader, second, ...others] = byVote as [NodeLayout, ...NodeLayout[]];
    const first = second === undefined ? [leader] : [leader, second];
    progress(
      `starting ${layout.nodes.length === 1 ? 'a server' : `${layout.nodes.length} servers, leader ${leader.site}`}`,
    );
    for (const node of first) this.#startServer(node);
    await Promise.all(first.map(({ site }) => this.untilServing(site)));
    for (const node of others) this.#startServer(node);
    await Promise.all(others.map(({ site }) => this.untilServing(site)));
    if (!isLeading(await modeOf(leader.clientPort)))
      throw new Error(`the servers elected another leader than ${leader.site}`);
  }

  #startServer(node: NodeLayout): void {
    const { folder, layout, libraries, czk, settings } = this.#state;
    const many = czk === undefined ? MAIN.many : CZK_MAIN;
    const home = join(folder, node.site);
    const data = join(home, 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'myid'), `${node.id}\n`);
    const config = join(home, 'zoo.cfg');
    writeFileSync(config, [configOf(layout, node, data), ...settings, ''].join('\n'));
    this.#state.servers[node.site] = startDaemon({
      command: 'java',
      args: [
        ...JVM,
        ...QUIET,
        '-Dzookeeper.extendedTypesEnabled=true',
        '-cp',
        [join(libraries, '*'), ...(czk === undefined ? [] : [czk])].join(delimiter),
        layout.nodes.length === 1 ? MAIN.one : many,
        config,
      ],
      mark: config,
      logFile: this.#logFile(node.site),
      cwd: home,
    });
  }

  #node(site: Site): NodeLayout {
    const node = this.#state.layout.nodes.find((item) => item.site === site);
    if (node === undefined) throw new RangeError(`the ensemble has no server at ${site}`);
    return node;
  }

  #logFile(site: Site): string {
    return join(this.#state.folder, `${site}.log`);
  }
}

function isLeading(mode: Mode | undefined): boolean {
  return mode === 'leader' || mode === 'standalone';
}
