/**
 * Three sites, each a process with a directory of its own, and a proxy in each link between them.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { useEtcd } from '../../engines/etcd/engine.ts';
import { roundTripMs, SITES, type Site, type WanPreset } from '../../engines/wan.ts';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import type { Build, ChaosDeployment } from './deployment.ts';
import { EtcdServers, QUOTA_BYTES } from './etcd-servers.ts';
import { etcdAt, Links, routesBetween, routesToEtcd, type LinkEnd } from './faults/links.ts';
import { FAULT_KINDS, type FaultKind } from './faults/plan.ts';
import { PARTITION } from './partition.ts';
import { ServerProcess } from './server-process.ts';

/** Sites are away for longer in some rounds. */
const KEEP_FOR_MS = 6_000;
const ETCD_KINDS: ReadonlySet<FaultKind> = new Set(Object.keys(FAULT_KINDS) as FaultKind[]);
const KINDS: ReadonlySet<FaultKind> = new Set(
  [...ETCD_KINDS].filter((kind) => !kind.startsWith('etcd-')),
);
const LEADER: Site = SITES[0];
const PARTITION_LEADER: Site = 'virginia';

interface Ports {
  readonly clients: number;
  readonly cluster: number;
}

interface EtcdOptions {
  readonly wan?: WanPreset;
  readonly quotaBytes?: number;
  /** With 2, a second red log is on the same etcd. Default: 1 */
  readonly partitions?: number;
}

/** The same, with its red logs on an etcd with three servers. */
export async function startClusterOnEtcd(
  folder: string,
  build: Build,
  progress: (line: string) => void,
  { wan = 'paper', quotaBytes = QUOTA_BYTES, partitions = 1 }: EtcdOptions = {},
): Promise<ChaosDeployment> {
  const { cluster, stop } = await useEtcd({ nodes: 3, wan, quotaBytes }, progress);
  try {
    const deployment = await startCluster(folder, build, { etcd: cluster, partitions });
    return {
      ...deployment,
      [Symbol.asyncDispose]: async () => {
        await deployment[Symbol.asyncDispose]();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What orders red operations. */
export interface RedOrder {
  /** Keeps the red log. Default: the first site does */
  readonly etcd?: EtcdCluster;
  /** With 2, another site orders the red operations of a partition. Default: 1 */
  readonly partitions?: number;
}

export async function startCluster(
  folder: string,
  { cli, service, logs }: Build,
  { etcd, partitions = 1 }: RedOrder = {},
): Promise<ChaosDeployment> {
  const ports = new Map<Site, Ports>();
  for (const site of SITES) ports.set(site, await twoPorts());
  const portsOf = (site: Site): Ports => ports.get(site) as Ports;
  const routes = [...routesBetween(SITES), ...(etcd === undefined ? [] : routesToEtcd(SITES))];
  const addressOf = (end: LinkEnd): string => {
    const server = SITES.find((site) => etcdAt(site) === end);
    if (etcd === undefined || server === undefined)
      return `${LOOPBACK}:${portsOf(end as Site).cluster}`;
    return new URL(etcd.endpoint(server)).host;
  };
  const links = await Links.open(routes, addressOf);

  /** The servers of etcd, the nearest first. */
  const endpointsFrom = (from: Site): readonly string[] =>
    SITES.toSorted((a, b) => roundTripMs('paper', from, a) - roundTripMs('paper', from, b)).map(
      (to) => `http://${links.addressOf(from, etcdAt(to))}`,
    );
  /**
   * Writes the cluster file as `from` has to see it: it finds the other sites behind the proxies.
   */
  const writeFileFor = async (from: Site, own: Ports, name: string): Promise<string> => {
    const sites = SITES.map((site) => {
      const isOwn = site === from;
      const url = `ws://${LOOPBACK}:${isOwn ? own.clients : portsOf(site).clients}`;
      return [
        site,
        { url, cluster: isOwn ? `${LOOPBACK}:${own.cluster}` : links.addressOf(from, site) },
      ];
    });
    const redLog =
      etcd === undefined
        ? { engine: 'built-in', leader: LEADER }
        : { engine: 'etcd', endpoints: endpointsFrom(from) };
    const file = join(folder, `${name}.json`);
    const text = {
      sites: Object.fromEntries(sites),
      redLog,
      ...(partitions > 1 && {
        partitions: { [PARTITION]: etcd === undefined ? { leader: PARTITION_LEADER } : {} },
      }),
      keyFile: 'cluster.key',
      keepForMs: KEEP_FOR_MS,
    };
    await writeFile(file, JSON.stringify(text, null, 2));
    return file;
  };
  const create = async (
    site: Site,
    directory: string,
    own: Ports,
    name: string,
  ): Promise<ServerProcess> => {
    const cluster = await writeFileFor(site, own, name);
    const what = ['--service', service, '--cluster', cluster, '--site', site, '--data', directory];
    const args = [...what, '--log-level', 'warn', '--json', '--skip-color-check'];
    return new ServerProcess({
      name,
      cli,
      args,
      conditionsFile: join(folder, `${name}.conditions`),
      logs,
    });
  };

  const nodes = new Map<Site, ServerProcess>();
  const directoryOf = (site: Site): string => join(folder, `data-${site}`);
  for (const site of SITES)
    nodes.set(site, await create(site, directoryOf(site), portsOf(site), site));
  const clusterFile = join(folder, `${LEADER}.json`);
  await promisify(execFile)(process.execPath, [cli, 'cluster', 'init', '--cluster', clusterFile]);
  const processes = [...nodes.values()];
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.kill()));
    await links[Symbol.asyncDispose]();
  };
  try {
    await Promise.all(processes.map((process) => process.begin()));
  } catch (error) {
    await stop();
    throw error;
  }
  let copies = 0;
  return {
    sites: SITES,
    ...(etcd === undefined
      ? { leaders: partitions === 1 ? [LEADER] : [LEADER, PARTITION_LEADER], kinds: KINDS }
      : {
          leaders: [],
          kinds: ETCD_KINDS,
          etcd: new EtcdServers({ cluster: etcd, cli, clusterFile }),
        }),
    processes,
    links,
    addressOf: (site) => `${LOOPBACK}:${portsOf(site).clients}`,
    pathOf: (site) => `/${site}`,
    processOf: (site) => nodes.get(site) as ServerProcess,
    directoryOf,
    createSecondProcess: async (site, directory) => {
      copies += 1;
      return create(site, directory, await twoPorts(), `${site}-second-${copies}`);
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function twoPorts(): Promise<Ports> {
  const [clients, cluster] = (await freePorts(2)) as [number, number];
  return { clients, cluster };
}
