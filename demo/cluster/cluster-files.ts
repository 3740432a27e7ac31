/** The files that nodes start from: a key, and for each node the addresses of the sites as it reaches them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOOPBACK } from '../../engines/ports.ts';
import { SITES, type Site } from '../../engines/wan.ts';
import { CLI } from '../shared/serve-process.ts';
import type { Network } from './network.ts';

/** Where a node listens on the loopback interface. */
export interface NodePorts {
  /** For clients. */
  readonly client: number;
  /** For other nodes. */
  readonly cluster: number;
}

/** The site that orders red operations. */
export const RED_LEADER: Site = 'ireland';

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

/** Writes the files; makes the key unless there is one. */
export async function writeClusterFiles(
  directory: string,
  ports: Readonly<Record<Site, NodePorts>>,
  network: Network,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const keyFile = join(directory, 'cluster.key');
  for (const own of SITES) {
    const sites = SITES.map((site) => {
      const { client, cluster } = ports[site];
      const port = site === own ? cluster : network.port(own, site);
      return [site, { url: `ws://${LOOPBACK}:${client}`, cluster: `${LOOPBACK}:${port}` }] as const;
    });
    const redLog = { engine: 'built-in', leader: RED_LEADER };
    const content = { sites: Object.fromEntries(sites), redLog, keyFile };
    await writeFile(nodeFiles(directory, own).cluster, `${JSON.stringify(content, null, 2)}\n`);
  }
  if (existsSync(keyFile)) return;
  const { cluster } = nodeFiles(directory, RED_LEADER);
  await promisify(execFile)(process.execPath, [CLI, 'cluster', 'init', '--cluster', cluster]);
}
