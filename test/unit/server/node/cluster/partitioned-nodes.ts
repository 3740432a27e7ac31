/** Nodes of a cluster with several red logs, in one process over real links. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createClient, type Client } from 'correctables';
import { transaction } from 'correctables/transactions';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { freePorts } from '../../../../../engines/ports.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { createKeyFile } from '../../../../../src/server/node/cluster/key-file.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { keyValueService } from '../../../../../src/server/service/key-value-service.ts';
import { openClusterNode } from '../../../../../src/server/serve-cluster.ts';
import { SiteBinding } from '../../../../../src/server/node/submission/site-binding.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

export const NAMES = ['ireland', 'frankfurt', 'virginia'] as const;
export type Name = (typeof NAMES)[number];

/**
 * Writes the files of a cluster whose partition `us` is led by Virginia. Returns the path of
 * `cluster.json`.
 */
export async function createFiles(change: object = {}): Promise<string> {
  const folder = temporaryFolder();
  const sites: Record<string, object> = {};
  for (const name of NAMES) {
    const [port, clusterPort] = await freePorts(2);
    sites[name] = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
  }
  const file = {
    sites,
    redLog: { engine: 'built-in', leader: 'ireland' },
    partitions: { us: { leader: 'virginia', voters: ['virginia', 'frankfurt'] } },
    keyFile: 'cluster.key',
    ...change,
  };
  const cluster = join(folder, 'cluster.json');
  writeFileSync(cluster, JSON.stringify(file));
  createKeyFile(join(folder, 'cluster.key'));
  return cluster;
}

/** Writes a copy of the file that differs, beside it. */
export function copyFile(cluster: string, change: object): string {
  const copy = join(dirname(cluster), 'copy.json');
  writeFileSync(copy, JSON.stringify({ ...JSON.parse(readFileSync(cluster, 'utf8')), ...change }));
  return copy;
}

export const alarms: SiteAlarm[] = [];

export async function open(
  cluster: string,
  site: Name | 'ohio',
  change: object = {},
): Promise<ClusterNode> {
  const options = {
    cluster,
    site,
    dataDir: join(dirname(cluster), site),
    ...change,
    checkColors: false,
    onAlarm: (alarm: SiteAlarm): void => void alarms.push(alarm),
  };
  const node = await openClusterNode(keyValueService, options);
  onTestFinished(() => node.close());
  return node;
}

export const openAll = (cluster: string): Promise<ClusterNode[]> =>
  Promise.all(NAMES.map((name) => open(cluster, name)));

export const clientOf = (node: ClusterNode): Client<RedBlueLevels> =>
  createClient(new SiteBinding(node.name, node.site.driver), { timeoutMs: 20_000 });

export const move = (
  client: Client<RedBlueLevels>,
  from: string,
  to: string,
  cents: number,
): PromiseLike<void> =>
  transaction(client, async (tx) => {
    const [before = 0, after = 0] = await tx.getMany<number>([from, to]);
    tx.put(from, before - cents);
    tx.put(to, after + cents);
  });

/** Changes of `cluster.json` that name another leader, each with the error that it causes. */
export const OTHER_LEADERS: readonly (readonly [string, object, string])[] = [
  [
    'a partition',
    { partitions: { us: { leader: 'frankfurt', voters: ['virginia', 'frankfurt'] } } },
    'partitions.us.leader is "frankfurt", and the data in DIR has "virginia"',
  ],
  [
    'main',
    { redLog: { engine: 'built-in', leader: 'frankfurt' } },
    'redLog.leader is "frankfurt", and the data in DIR has "ireland"',
  ],
];
