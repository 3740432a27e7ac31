/** A Cassandra cluster on this machine: one process a node, one for all delays. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startDelays } from '../delays.ts';
import { hasLibrariesOf, librariesOf, requireCommand, requireJava } from '../maven.ts';
import {
  isRunning,
  killDaemon,
  signalDaemon,
  startDaemon,
  stopDaemon,
  waitUntil,
  type Daemon,
} from '../process.ts';
import type { Place } from '../wan.ts';
import { nodesInReach, type Access } from './ask.ts';
import { configure, filesOf, type NodeOptions } from './config.ts';
import { clientAddress, CQL_PORT, layOut, type LayoutOptions, type NodeLayout } from './layout.ts';
import { buildPlugin } from './plugin.ts';
import { makeCertificate } from './tls.ts';

export interface ClusterOptions extends Omit<LayoutOptions, 'nodesDelay'> {
  /** Data, logs and configuration; emptied at the start. */
  readonly folder: string;
  readonly progress: (text: string) => void;
  /**
   * Nodes that give preliminary views of their own (`research/cassandra-icg`); not unless given.
   */
  readonly plugin?: boolean;
  /** Which release to fetch and run; unless given, the one that the plugin is built with. */
  readonly version?: string;
  /**
   * For tests: small heaps, a compiler that is soon done, writes on disk when acknowledged, no
   * hints; not unless given.
   */
  readonly fast?: boolean;
  /** Clients have to log in, first as {@link SUPERUSER}; not unless given. */
  readonly authentication?: boolean;
  /** Clients have to use TLS and to trust {@link Cluster.certificate}; not unless given. */
  readonly tls?: boolean;
  /** Further lines of each node's `cassandra.yaml`. */
  readonly settings?: readonly string[];
  /** Further flags of each node's Java. */
  readonly javaFlags?: readonly string[];
  /**
   * Called with the state whenever a process of the cluster was started: to be written down before
   * anything can fail.
   */
  readonly onChange?: ChangeListener;
}

type ChangeListener = (state: ClusterState) => void;

/** What is needed to find a running cluster again: plain data. */
export interface ClusterState extends NodeOptions {
  readonly daemons: Partial<Record<Place, Daemon>>;
  readonly proxy: Daemon | undefined;
}

/**
 * How a node does: it serves and reaches so many nodes, it runs without serving, or it does not
 * run.
 */
export type NodeHealth = { readonly inReach: number } | 'not serving' | 'down';

/** The login of a new cluster with authentication. */
export const SUPERUSER = { username: 'cassandra', password: 'cassandra' } as const;

const POM = fileURLToPath(new URL('pom.xml', import.meta.url));
const SERVING_MS = 150_000;
const POLL_MS = 250;
const LOG_LINES = 15;

export class Cluster implements AsyncDisposable {
  readonly #state: { -readonly [K in keyof ClusterState]: ClusterState[K] };
  readonly #onChange: ChangeListener;

  /** Takes over a cluster that was started by another process. */
  constructor(state: ClusterState, onChange: ChangeListener = () => {}) {
    this.#state = { ...state, daemons: { ...state.daemons } };
    this.#onChange = onChange;
  }

  /**
   * Starts a cluster without data, and waits until each node serves and sees all others.
   *
   * @throws EngineUnavailable where Java 17 or Maven is missing, or an address is taken
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { folder, progress } = options;
    const { version } = options;
    const java = requireTools();
    const libraries = await librariesOf(
      POM,
      progress,
      version === undefined ? {} : { 'cassandra.version': version },
    );
    const plugin = options.plugin === true ? await buildPlugin(progress) : undefined;
    const layout = await layOut({ ...options, nodesDelay: plugin !== undefined });
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const addresses = [...new Set([...layout.nodes, ...layout.routes].map(hostOf))];
    const tls = options.tls === true ? await makeCertificate(folder, java, addresses) : undefined;
    const { fast = false, authentication = false, settings = [], javaFlags = [] } = options;
    const machine = { folder, layout, libraries, java };
    const common: NodeOptions = {
      ...machine,
      plugin,
      fast,
      authentication,
      tls,
      settings,
      javaFlags,
    };
    const cluster = new Cluster({ ...common, daemons: {}, proxy: undefined }, options.onChange);
    try {
      await cluster.#startAll(progress);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get state(): ClusterState {
    return this.#state;
  }

  get nodes(): readonly NodeLayout[] {
    return this.#state.layout.nodes;
  }

  get sites(): Place[] {
    return this.nodes.map(({ site }) => site);
  }

  /** The replication of a keyspace with a replica at each node, in CQL. */
  get replication(): string {
    const counts = new Map<string, number>();
    for (const { dataCenter } of this.nodes)
      counts.set(dataCenter, (counts.get(dataCenter) ?? 0) + 1);
    const factors = [...counts].map(([dataCenter, count]) => `, '${dataCenter}': ${count}`);
    return `{'class': 'NetworkTopologyStrategy'${factors.join('')}}`;
  }

  /**
   * The certificate that clients have to trust, a PEM file; undefined where they do not use TLS.
   */
  get certificate(): string | undefined {
    return this.#state.tls?.certificate;
  }

  /** How to speak to the nodes. */
  get access(): Access {
    return {
      credentials: this.#state.authentication ? SUPERUSER : undefined,
      certificate: this.certificate,
    };
  }

  /**
   * The address, `host:port`, of the node at `at` for a client beside the site `from` (unless
   * given, the same).
   */
  address(at: Place, from: Place = at): string {
    return `${clientAddress(this.#state.layout, from, this.#node(at).site)}:${CQL_PORT}`;
  }

  /** All addresses for a client beside `from`: its own node first. */
  contactPoints(from: Place): string[] {
    const sites = [...this.sites].sort((a, b) => Number(b === from) - Number(a === from));
    return sites.map((site) => this.address(site, from));
  }

  /**
   * Returns where a client beside `from` has to connect for a node that the cluster reports: nodes
   * know their own addresses only, not those with delays. Drivers call this address translation.
   */
  translate(host: string, from: Place): string {
    const node = this.nodes.find(
      ({ address, peerAddress }) => address === host || peerAddress === host,
    );
    return node === undefined ? host : clientAddress(this.#state.layout, from, node.site);
  }

  /** How each node does now, by its own words. */
  async health(): Promise<Partial<Record<Place, NodeHealth>>> {
    const getHealth = async ({ site, address }: NodeLayout): Promise<NodeHealth> => {
      if (!this.isRunning(site)) return 'down';
      const inReach = await nodesInReach(address, this.access);
      return inReach === undefined ? 'not serving' : { inReach };
    };
    return Object.fromEntries(
      await Promise.all(this.nodes.map(async (node) => [node.site, await getHealth(node)])),
    );
  }

  isRunning(site: Place): boolean {
    const daemon = this.#state.daemons[site];
    return daemon !== undefined && isRunning(daemon);
  }

  /** Ends a node without warning; its data stays. Resolves when it is gone. */
  async kill(site: Place): Promise<void> {
    const daemon = this.#state.daemons[this.#node(site).site];
    if (daemon !== undefined) await killDaemon(daemon);
  }

  /** Freezes a node: its connections stay, nothing is answered. */
  pause(site: Place): void {
    const daemon = this.#state.daemons[this.#node(site).site];
    if (daemon !== undefined) signalDaemon(daemon, 'SIGSTOP');
  }

  /** Lets a frozen node go on. */
  resume(site: Place): void {
    const daemon = this.#state.daemons[this.#node(site).site];
    if (daemon !== undefined) signalDaemon(daemon, 'SIGCONT');
  }

  /**
   * Starts a node on its old data, after killing it if it runs, and waits until all nodes that run
   * reach each other.
   */
  async restart(site: Place): Promise<void> {
    await this.kill(site);
    this.#startNode(this.#node(site));
    await this.untilReady();
  }

  /** Resolves when each node that runs serves and reaches all others that do. */
  async untilReady(): Promise<void> {
    const running = this.nodes.filter(({ site }) => this.isRunning(site));
    await Promise.all(running.map((node) => this.#untilReaches(node, running.length)));
  }

  /** Ends all its processes. Data and logs stay, in its folder. */
  async stop(): Promise<void> {
    const { daemons, proxy } = this.#state;
    // Asked, a node would take many seconds to tell the others: they end as well.
    await Promise.all(Object.values(daemons).map(killDaemon));
    if (proxy !== undefined) await stopDaemon(proxy);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startAll(progress: (text: string) => void): Promise<void> {
    const { folder, layout } = this.#state;
    if (layout.routes.length > 0) {
      this.#state.proxy = await startDelays(folder, layout.routes);
      this.#onChange(this.#state);
    }
    const [first] = layout.nodes;
    progress(
      `starting ${layout.nodes.length === 1 ? 'a node' : `${layout.nodes.length} nodes`} from ${first?.address} on`,
    );
    const from = performance.now();
    for (const node of layout.nodes) this.#startNode(node);
    const ready = async (node: NodeLayout): Promise<void> => {
      await this.#untilReaches(node, layout.nodes.length);
      progress(
        `${node.site} serves and reaches all nodes (${((performance.now() - from) / 1000).toFixed(1)} s)`,
      );
    };
    await Promise.all(layout.nodes.map(ready));
  }

  #startNode(node: NodeLayout): void {
    const { home, yaml, log } = filesOf(this.#state.folder, node);
    const args = configure(node, this.#state);
    const { java: command } = this.#state;
    this.#state.daemons[node.site] = startDaemon({
      command,
      args,
      mark: yaml,
      logFile: log,
      cwd: home,
    });
    this.#onChange(this.#state);
  }

  async #untilReaches(node: NodeLayout, count: number): Promise<void> {
    const { log } = filesOf(this.#state.folder, node);
    const description = `the Cassandra node of ${node.site}`;
    const reaches = async (): Promise<boolean> => {
      if (!this.isRunning(node.site))
        throw new Error(`${description} ended; see ${log}, which ends with\n${lastLines(log)}`);
      return ((await nodesInReach(node.address, this.access)) ?? 0) >= count;
    };
    if (await waitUntil(reaches, SERVING_MS, POLL_MS)) return;
    throw new Error(
      `${description} does not reach ${count} nodes; see ${log}, which ends with\n${lastLines(log)}`,
    );
  }

  #node(site: Place): NodeLayout {
    const node = this.nodes.find((item) => item.site === site);
    if (node !== undefined) return node;
    throw new RangeError(`the cluster has no node at ${site}: it has ${this.sites.join(', ')}`);
  }
}

/**
 * The command that starts Java.
 *
 * @throws EngineUnavailable where Java 17 is missing, or Maven, unless all has been fetched
 */
export function requireTools(): string {
  const java = requireJava(17, 'Cassandra 5.0 runs on it');
  if (!hasLibrariesOf(POM))
    requireCommand('mvn', 'Maven fetches Cassandra: install Maven 3.6 or later');
  return java;
}

function hostOf(part: { readonly address: string } | { readonly listenHost?: string }): string {
  return 'address' in part ? part.address : (part.listenHost ?? '');
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
