/** Nodes of a cluster with one red log, in one process over real links. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createClient, type Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { freePorts } from '../../../../../engines/ports.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { createKeyFile } from '../../../../../src/server/node/cluster/key-file.ts';
import {
  openClusterNode,
  serveCluster,
  type RunningNode,
  type ServeClusterOptions,
} from '../../../../../src/server/serve-cluster.ts';
import { SiteBinding } from '../../../../../src/server/node/submission/site-binding.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { service as marks } from '../../../../support/cluster-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

export const service = marks as unknown as Service;
export const NAMES = ['a', 'b', 'c'];

/** A folder with the files of a cluster. */
export interface Files {
  readonly cluster: string;
  dataDir(site: string): string;
}

export async function createFiles(names: readonly string[] = NAMES): Promise<Files> {
  const folder = temporaryFolder();
  const sites: Record<string, object> = {};
  for (const name of names) {
    const [port, clusterPort] = await freePorts(2);
    sites[name] = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
  }
  const cluster = join(folder, 'cluster.json');
  const file = { sites, redLog: { engine: 'built-in', leader: names[0] }, keyFile: 'cluster.key' };
  writeFileSync(cluster, JSON.stringify(file));
  createKeyFile(join(folder, 'cluster.key'));
  return { cluster, dataDir: (site) => join(folder, site) };
}

export const alarms: SiteAlarm[] = [];

export async function open(
  files: Files,
  site: string,
  dataDir = files.dataDir(site),
): Promise<ClusterNode> {
  const onAlarm = (alarm: SiteAlarm): number => alarms.push(alarm);
  const node = await openClusterNode(service, {
    cluster: files.cluster,
    site,
    dataDir,
    onAlarm,
    checkColors: false,
  });
  onTestFinished(() => node.close());
  return node;
}

export const openAll = (files: Files): Promise<ClusterNode[]> =>
  Promise.all(NAMES.map((name) => open(files, name)));

export const clientOf = (node: ClusterNode): Client<RedBlueLevels> =>
  createClient(new SiteBinding(node.name, node.site.driver), { timeoutMs: 20_000 });

export async function serveSite(
  files: Files,
  site: string,
  more: Partial<ServeClusterOptions> = {},
): Promise<RunningNode> {
  const options = {
    service,
    cluster: files.cluster,
    dataDir: files.dataDir(site),
    checkColors: false,
  };
  const node = await serveCluster({ ...options, site, ...more });
  onTestFinished(() => node.close({ drainMs: 0 }));
  return node;
}

/** Files of a deployment of a, b and c, and of d, which is to join. */
export async function createFilesOfFour(): Promise<readonly [Files, Files]> {
  const four = await createFiles([...NAMES, 'd']);
  const file = JSON.parse(readFileSync(four.cluster, 'utf8'));
  delete file.sites.d;
  const cluster = join(dirname(four.cluster), 'three.json');
  writeFileSync(cluster, JSON.stringify(file));
  return [{ ...four, cluster }, four];
}
