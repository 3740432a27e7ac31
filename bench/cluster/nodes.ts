/** Three sites as processes on this machine, which can be killed and started again. */
import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import { useEtcd } from '../../engines/etcd/engine.ts';
import { freePorts } from '../../engines/ports.ts';
import { answer, ended, startChild } from '../harness/children.ts';
import { serverFlags } from '../load/processes.ts';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
export type SiteName = (typeof SITES)[number];

interface NodeAddresses {
  readonly url: string;
  readonly siteUrl: string;
}

/** The process of one site. */
export class Node {
  readonly #cluster: string;
  readonly #dataDir: string;
  readonly site: SiteName;
  #child: ChildProcess | undefined;
  #addresses: NodeAddresses = { url: '', siteUrl: '' };

  constructor(site: SiteName, cluster: string, directory: string) {
    this.site = site;
    this.#cluster = cluster;
    this.#dataDir = join(directory, site);
  }

  /** Base address for HTTP. */
  get url(): string {
    return this.#addresses.url;
  }

  /** Address for clients. */
  get siteUrl(): string {
    return this.#addresses.siteUrl;
  }

  get pid(): number {
    return this.#child?.pid ?? NaN;
  }

  /** Starts the process. Resolves once the site serves clients. */
  async start(): Promise<void> {
    const args = [this.#cluster, this.site, this.#dataDir];
    this.#child = startChild(new URL('node.ts', import.meta.url), args, serverFlags());
    this.#addresses = await answer<NodeAddresses>(this.#child);
  }

  /** Kills the process at once, as a machine that loses power. */
  async kill(): Promise<void> {
    const child = this.#child as ChildProcess;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined && this.#child.signalCode === null) await ended(this.#child);
  }

  /** Returns the sum of a metric over its labels. */
  async readMetric(name: string): Promise<number> {
    const text = await (await fetch(new URL('/metrics', this.url))).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }
}

/** The three processes. */
export interface Cluster {
  readonly nodes: Readonly<Record<SiteName, Node>>;
  stop(): Promise<void>;
}

/**
 * Creates a deployment in a temporary directory and starts its sites.
 *
 * @param redLog the field `redLog` of its cluster file. Default: the first site leads the log
 */
export async function startCluster(
  redLog: object = { engine: 'built-in', leader: SITES[0] },
): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-cluster-'));
  const ports = await freePorts(SITES.length * 2);
  const file = join(directory, 'cluster.json');
  const sites = Object.fromEntries(
    SITES.map((site, index) => [
      site,
      { url: `ws://127.0.0.1:${ports[index * 2]}`, cluster: `127.0.0.1:${ports[index * 2 + 1]}` },
    ]),
  );
  await writeFile(file, JSON.stringify({ sites, redLog, keyFile: 'cluster.key' }, null, 2));
  await promisify(execFile)(process.execPath, [CLI, 'cluster', 'init', '--cluster', file]);
  const nodes = Object.fromEntries(
    SITES.map((site) => [site, new Node(site, file, directory)]),
  ) as Cluster['nodes'];
  const stop = async (): Promise<void> => {
    await Promise.all(SITES.map((site) => nodes[site].stop()));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    // Start all sites at once: a new deployment begins once its sites have reached each other.
    await Promise.all(SITES.map((site) => nodes[site].start()));
    return { nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Three processes whose red log is on a separate etcd. `stop` ends both. */
export interface ClusterOnEtcd extends Cluster {
  readonly etcd: EtcdCluster;
}

export async function startClusterOnEtcd(progress: (text: string) => void): Promise<ClusterOnEtcd> {
  const { cluster: etcd, stop: stopEtcd } = await useEtcd({}, progress);
  try {
    const { nodes, stop: stopSites } = await startCluster({
      engine: 'etcd',
      endpoints: etcd.endpoints(),
    });
    const stop = async (): Promise<void> => {
      await stopSites();
      await stopEtcd();
    };
    return { nodes, etcd, stop };
  } catch (error) {
    await stopEtcd();
    throw error;
  }
}
