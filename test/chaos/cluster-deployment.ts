/** Three sites, each a process with a directory of its own, and a proxy in each link between them. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { SITES, type Site } from '../../engines/wan.ts';
import type { Build, ChaosDeployment } from './deployment.ts';
import { Links } from './faults/links.ts';
import { FAULT_KINDS, type FaultKind } from './faults/plan.ts';
import { ServerProcess } from './server-process.ts';

/** Sites are away for longer in some rounds. */
const KEEP_FOR_MS = 6_000;
const KINDS: ReadonlySet<FaultKind> = new Set(Object.keys(FAULT_KINDS) as FaultKind[]);
const LEADER: Site = SITES[0];

interface Ports {
  readonly clients: number;
  readonly cluster: number;
}

export async function startCluster(folder: string, { cli, service, logs }: Build): Promise<ChaosDeployment> {
  const ports = new Map<Site, Ports>();
  for (const site of SITES) ports.set(site, await twoPorts());
  const portsOf = (site: Site): Ports => ports.get(site) as Ports;
  const links = await Links.open(SITES, (site) => `${LOOPBACK}:${portsOf(site).cluster}`);

  /** Writes the cluster file as `from` has to see it: it finds the other sites behind the proxies. */
  const writeFileFor = async (from: Site, own: Ports, name: string): Promise<string> => {
    const sites = SITES.map((site) => {
      const isOwn = site === from;
      const url = `ws://${LOOPBACK}:${isOwn ? own.clients : portsOf(site).clients}`;
      return [site, { url, cluster: isOwn ? `${LOOPBACK}:${own.cluster}` : links.addressOf(from, site) }];
    });
    const redLog = { engine: 'built-in', leader: LEADER };
    const file = join(folder, `${name}.json`);
    const text = { sites: Object.fromEntries(sites), redLog, keyFile: 'cluster.key', keepForMs: KEEP_FOR_MS };
    await writeFile(file, JSON.stringify(text, null, 2));
    return file;
  };
  const create = async (site: Site, directory: string, own: Ports, name: string): Promise<ServerProcess> => {
    const cluster = await writeFileFor(site, own, name);
    const what = ['--service', service, '--cluster', cluster, '--site', site, '--data', directory];
    const args = [...what, '--log-level', 'warn', '--json', '--skip-color-check'];
    return new ServerProcess({ name, cli, args, conditionsFile: join(folder, `${name}.conditions`), logs });
  };

  const nodes = new Map<Site, ServerProcess>();
  const directoryOf = (site: Site): string => join(folder, `data-${site}`);
  for (const site of SITES) nodes.set(site, await create(site, directoryOf(site), portsOf(site), site));
  await promisify(execFile)(process.execPath, [cli, 'cluster', 'init', '--cluster', join(folder, `${LEADER}.json`)]);
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
    leader: LEADER,
    kinds: KINDS,
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
