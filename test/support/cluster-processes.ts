/**
 * A deployment with a process of `correctables serve --cluster` for each site. Tests kill and
 * restart the processes.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { freePorts } from '../../engines/ports.ts';
import { createKeyFile } from '../../src/server/node/cluster/key-file.ts';
import { clusterContract } from './cluster-service.ts';
import { built } from './programs.ts';
import { Program, type Ended } from './run-program.ts';

const CLI = 'dist/cli/main.js';
export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;

/** A copy of the built package, and the module of the service. */
export interface PackageBuild {
  readonly cli: string;
  readonly service: string;
}

/** The addresses where a node serves, as it printed them. */
export interface Serving {
  readonly url: string;
  readonly sites: Readonly<Record<string, string>>;
}

/** The output of `cluster status` for a site. */
export interface SiteReport {
  readonly site: string;
  readonly status: {
    readonly state: string;
    readonly links: readonly { readonly isConnected: boolean }[];
    readonly alarms: readonly { readonly kind: string }[];
  } | null;
}

/**
 * A folder with `cluster.json`, the key file and a data directory for each site, and the processes
 * that run on it.
 */
export class ClusterProcesses implements AsyncDisposable {
  readonly folder: string;
  readonly clusterFile: string;
  readonly urls: Record<string, string>;
  readonly #service: string;
  /** The cluster files of sites that have a file of their own. */
  readonly #clusterFiles = new Map<string, string>();
  /** The builds of sites that run another build of the package. */
  readonly #builds = new Map<string, PackageBuild>();
  readonly #programs = new Map<string, Program>();
  readonly #clients: Client<RedBlueLevels>[] = [];

  private constructor(folder: string, service: string, urls: Record<string, string>) {
    this.folder = folder;
    this.clusterFile = join(folder, 'cluster.json');
    this.#service = service;
    this.urls = urls;
  }

  /** Writes the files. No site runs yet. */
  static async create(
    sites: readonly string[] = SITES,
    keepForMs?: number,
    redLog: object = { engine: 'built-in', leader: sites[0] },
    partitions?: object,
  ): Promise<ClusterProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'correctables-cluster-'));
    const ports = await freePorts(2 * sites.length);
    const entries = sites.map((name, place) => {
      const [url, cluster] = [
        `ws://127.0.0.1:${ports[2 * place]}`,
        `127.0.0.1:${ports[2 * place + 1]}`,
      ];
      return [name, { url, cluster }] as const;
    });
    const service = await built('test/support/cluster-service.ts');
    const urls = Object.fromEntries(entries.map(([name, { url }]) => [name, `${url}/${name}`]));
    const cluster = new ClusterProcesses(folder, service, urls);
    const text = {
      sites: Object.fromEntries(entries),
      redLog,
      partitions,
      keyFile: 'cluster.key',
      keepForMs,
    };
    await writeFile(cluster.clusterFile, JSON.stringify(text));
    createKeyFile(join(folder, 'cluster.key'));
    return cluster;
  }

  /** Writes a cluster file with one more site, for that site alone. */
  async addSite(site: string): Promise<void> {
    const [port, clusterPort] = await freePorts(2);
    const file = JSON.parse(await readFile(this.clusterFile, 'utf8')) as { readonly sites: object };
    const entry = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
    const path = join(this.folder, `cluster-${site}.json`);
    await writeFile(path, JSON.stringify({ ...file, sites: { ...file.sites, [site]: entry } }));
    this.#clusterFiles.set(site, path);
    this.urls[site] = `${entry.url}/${site}`;
  }

  /** Uses another build for all later starts of a site. */
  useBuild(site: string, build: PackageBuild): void {
    this.#builds.set(site, build);
  }

  dataDir(site: string): string {
    return join(this.folder, 'data', site);
  }

  /** Starts the process of a site without waiting until it serves. */
  launch(site: string, flags: readonly string[] = []): Program {
    const clusterFile = this.#clusterFiles.get(site) ?? this.clusterFile;
    const place = ['--cluster', clusterFile, '--site', site, '--data', this.dataDir(site)];
    const { cli, service } = this.#builds.get(site) ?? { cli: CLI, service: this.#service };
    const program = new Program([
      cli,
      'serve',
      '--service',
      service,
      '--skip-color-check',
      '--json',
      ...place,
      ...flags,
    ]);
    this.#programs.set(site, program);
    return program;
  }

  /** Starts the process of a site and waits until it serves. */
  async start(site: string, flags: readonly string[] = []): Promise<Serving> {
    return JSON.parse(await this.launch(site, flags).line()) as Serving;
  }

  /** Starts all sites and waits until they serve. */
  async startAll(): Promise<void> {
    await Promise.all(Object.keys(this.urls).map((site) => this.start(site)));
  }

  /** Ends the process of a site by a signal. */
  async end(site: string, signal: NodeJS.Signals): Promise<Ended> {
    const program = this.#programs.get(site) as Program;
    program.signal(signal);
    return program.ended();
  }

  /** Resolves once the process of a site has ended by itself. */
  async ended(site: string): Promise<Ended> {
    return (this.#programs.get(site) as Program).ended();
  }

  /** A client that prefers the sites in this order. */
  client(...sites: readonly string[]): Client<RedBlueLevels> {
    const url = sites.map((site) => this.urls[site] as string);
    const client = createClient(redblue(clusterContract, { url, WebSocket }), {
      timeoutMs: 20_000,
    });
    this.#clients.push(client);
    return client;
  }

  /** The output of `cluster status` for each site. */
  async status(): Promise<readonly SiteReport[]> {
    const { stdout } = await this.command('status');
    return (JSON.parse(stdout) as { readonly sites: readonly SiteReport[] }).sites;
  }

  /** Runs a command of `correctables cluster`. */
  async command(action: string, ...flags: readonly string[]): Promise<Ended> {
    using program = new Program([
      CLI,
      'cluster',
      action,
      '--cluster',
      this.clusterFile,
      '--json',
      ...flags,
    ]);
    return await program.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    for (const program of this.#programs.values()) program.signal('SIGKILL');
    await Promise.all([...this.#programs.values()].map((program) => program.ended()));
    await rm(this.folder, { recursive: true });
  }
}
