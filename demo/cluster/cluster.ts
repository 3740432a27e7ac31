/**
 * Runs three sites as processes on this machine, with the delays of the papers between them. Sites
 * can be killed, frozen and cut off.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { SITES, type Site, type WanPreset } from '../../engines/wan.ts';
import {
  builtInRedLog,
  LEADER,
  nodeFiles,
  writeClusterFiles,
  type NodePorts,
  type Partitions,
  type RedLogAt,
} from './cluster-files.ts';
import { ClusterSite, type Probe } from './cluster-site.ts';
import { Guard } from './guard.ts';
import { Network, WAY_COUNT } from './network.ts';
import type { Action, SiteStatus } from './status.ts';

export interface ClusterOptions {
  readonly wan: WanPreset;
  /** The module with the service. */
  readonly service: string;
  /** A strong read of the service, by which a site shows that it has caught up. */
  readonly probe: Probe;
  /** What orders red operations. Default: one of the sites. */
  readonly redLog?: RedLogAt | undefined;
  /** Further red logs, each with a site that orders it. Default: none */
  readonly partitions?: Partitions | undefined;
  /**
   * The directory for all files, which is kept afterwards. Default: a temporary one, which is
   * removed
   */
  readonly keep?: string | undefined;
}

type Ports = Readonly<Record<Site, NodePorts>>;
type Sites = Readonly<Record<Site, ClusterSite>>;

interface Surroundings {
  readonly network: Network;
  readonly guard: Guard;
  /** The site that orders the sales; absent if etcd does. */
  readonly leader: Site | undefined;
}

/**
 * The limit of operations in flight at a site. It is so low that a rush of customers exceeds it.
 */
const LIMITS = 'maxInFlight=100';

export class Cluster {
  readonly #sites: Sites;
  readonly #ports: Ports;
  readonly #network: Network;
  readonly #guard: Guard;
  readonly #leader: Site | undefined;

  private constructor(sites: Sites, ports: Ports, { network, guard, leader }: Surroundings) {
    this.#sites = sites;
    this.#ports = ports;
    this.#network = network;
    this.#guard = guard;
    this.#leader = leader;
  }

  /**
   * Starts the sites; resolves when all listen.
   *
   * @throws Error with the output of a node that does not start
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { wan, service, probe, keep, redLog = builtInRedLog, partitions } = options;
    const directory =
      keep === undefined ? await mkdtemp(join(tmpdir(), 'correctables-cluster-')) : resolve(keep);
    const guard = new Guard(keep === undefined ? directory : undefined);
    // Find all ports at once: the nodes do not listen yet, so a later search could return the same
    // ports.
    const numbers = await freePorts(2 * SITES.length + WAY_COUNT);
    const ports = record((_, n): NodePorts => ({
      client: numbers[2 * n] ?? 0,
      cluster: numbers[2 * n + 1] ?? 0,
    }));
    const network = await Network.open(
      numbers.slice(2 * SITES.length),
      record((site) => ports[site].cluster),
      wan,
    );
    const createSite = (name: Site): ClusterSite => {
      const { cluster, data, log: logFile } = nodeFiles(directory, name);
      const node = ['--cluster', cluster, '--site', name, '--data', data];
      const args = ['--service', service, ...node, '--limits', LIMITS];
      return new ClusterSite({ name, args, url: siteUrl(ports, name), logFile, probe, guard });
    };
    const started: ClusterSite[] = [];
    try {
      await writeClusterFiles(directory, { ports, network, redLog, partitions });
      const leader = redLog === builtInRedLog ? LEADER : undefined;
      const cluster = new Cluster(record(createSite), ports, { network, guard, leader });
      await cluster.#startAll(started);
      return cluster;
    } catch (error) {
      await Promise.all(started.map((site) => site.close()));
      network.close();
      await guard.close();
      throw error;
    }
  }

  get status(): readonly SiteStatus[] {
    return SITES.map((name) => {
      const { state, isCatchingUp, failure } = this.#sites[name];
      const isLeader = name === this.#leader;
      return { name, state, isLeader, isCut: this.#network.isCut(name), isCatchingUp, failure };
    });
  }

  /** Returns the port for clients at the node of a site. */
  clientPort(site: Site): number {
    return this.#ports[site].client;
  }

  /** Applies an action to a site. Does nothing if the site is in that state already. */
  async act(name: Site, action: Action): Promise<void> {
    const site = this.#sites[name];
    switch (action) {
      case 'kill':
        return await site.kill();
      case 'start':
        return await site.start();
      case 'freeze':
        return site.freeze();
      case 'continue':
        return site.unfreeze();
      case 'cut':
        return this.#network.setCut(name, true);
      case 'reconnect':
        this.#network.setCut(name, false);
        return site.noteAway();
    }
  }

  /** Ends all processes; removes the directory unless it is to be kept. */
  async close(): Promise<void> {
    await Promise.all(SITES.map((name) => this.#sites[name].close()));
    this.#network.close();
    await this.#guard.close();
  }

  /**
   * @param started receives the sites, some of which may have started although another one fails
   */
  async #startAll(started: ClusterSite[]): Promise<void> {
    started.push(...SITES.map((name) => this.#sites[name]));
    // At the first start, each site waits for the others. If one fails, end the others, which would
    // wait for ever.
    await Promise.all(
      started.map(async (site) => {
        await site.start();
        if (site.failure !== undefined)
          throw new Error(`the node of ${site.name} did not start: ${site.failure}`);
      }),
    );
  }
}

function siteUrl(ports: Ports, site: Site): string {
  return `ws://${LOOPBACK}:${ports[site].client}/${site}`;
}

function record<T>(make: (site: Site, at: number) => T): Readonly<Record<Site, T>> {
  return Object.fromEntries(SITES.map((site, at) => [site, make(site, at)])) as Record<Site, T>;
}
