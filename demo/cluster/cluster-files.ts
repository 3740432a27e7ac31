/**
 * Writes the files with which nodes start: a key, and for each node the addresses at which it
 * reaches the sites.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOOPBACK } from '../../engines/ports.ts';
import { SITES, type Site } from '../../engines/wan.ts';
import { CLI } from '../shared/serve-process.ts';
import type { Network } from './network.ts';

/** The ports of a node on the loopback interface. */
export interface NodePorts {
  /** For clients. */
  readonly client: number;
  /** For other nodes. */
  readonly cluster: number;
}

/** The field `redLog` of a site's `cluster.json`. */
export type RedLogAt = (site: Site) => object;

/** The site that orders red operations in the built-in red log. */
export const LEADER: Site = 'ireland';

/** Selects the built-in red log, in which a site orders red operations. */
export const builtInRedLog: RedLogAt = () => ({ engine: 'built-in', leader: LEADER });

/** The field `partitions` of `cluster.json`: the leader of each red log beside that of `main`. */
export type Partitions = Readonly<Record<string, { readonly leader: Site }>>;

/** The addresses of the nodes of a cluster, and its red logs. */
export interface ClusterAddresses {
  readonly ports: Readonly<Record<Site, NodePorts>>;
  readonly network: Network;
  readonly redLog: RedLogAt;
  readonly partitions?: Partitions | undefined;
}

/** The files of one node. */
export interface NodeFiles {
  readonly cluster: string;
  readonly data: string;
  readonly log: string;
}

export function nodeFiles(directory: string, site: Site): NodeFiles {
  return {
    cluster: join(directory, `${site}.json`),
    data: join(directory, site),
    log: join(directory, `${site}.log`),
  };
}

/** Writes the files of the nodes; creates the key if it is missing. */
export async function writeClusterFiles(
  directory: string,
  { ports, network, redLog, partitions }: ClusterAddresses,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const keyFile = join(directory, 'cluster.key');
  for (const own of SITES) {
    const sites = SITES.map((site) => {
      const { client, cluster } = ports[site];
      const port = site === own ? cluster : network.port(own, site);
      return [site, { url: `ws://${LOOPBACK}:${client}`, cluster: `${LOOPBACK}:${port}` }] as const;
    });
    const content = { sites: Object.fromEntries(sites), redLog: redLog(own), partitions, keyFile };
    await writeFile(nodeFiles(directory, own).cluster, `${JSON.stringify(content, null, 2)}\n`);
  }
  if (existsSync(keyFile)) return;
  const { cluster } = nodeFiles(directory, SITES[0]);
  await promisify(execFile)(process.execPath, [CLI, 'cluster', 'init', '--cluster', cluster]);
}
