/** Nodes of a cluster whose partitions have red logs on one real etcd, or on two. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createClient, type Client } from 'correctables';
import { get, getMany, put } from 'correctables/operations';
import { transaction } from 'correctables/transactions';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { freePorts } from '../../../engines/ports.ts';
import { createKeyFile } from '../../../src/server/node/cluster/key-file.ts';
import type { ClusterNode } from '../../../src/server/node/cluster/cluster-node.ts';
import { keyValueService } from '../../../src/server/service/key-value-service.ts';
import { openClusterNode } from '../../../src/server/serve-cluster.ts';
import { SiteBinding } from '../../../src/server/node/submission/site-binding.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withEtcd } from '../support/etcd.ts';

const it = withEtcd();
const NAMES = ['ireland', 'frankfurt', 'virginia'];

async function openAll(folder: string): Promise<ClusterNode[]> {
  const open = async (site: string): Promise<ClusterNode> => {
    const options = {
      cluster: join(folder, 'cluster.json'),
      site,
      dataDir: join(folder, site),
      checkColors: false,
    };
    const node = await openClusterNode(keyValueService, options);
    onTestFinished(() => node.close());
    return node;
  };
  return Promise.all(NAMES.map(open));
}

const clientOf = (node: ClusterNode | undefined): Client<RedBlueLevels> =>
  createClient(new SiteBinding(node!.name, node!.site.driver), { timeoutMs: 20_000 });

const move = (
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

// @rule PART-G15
test('two red logs on one etcd → transactions over both, also after all nodes have started again', async () => {
  const folder = temporaryFolder();
  const sites: Record<string, object> = {};
  for (const name of NAMES) {
    const [port, clusterPort] = await freePorts(2);
    sites[name] = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
  }
  const redLog = { engine: 'etcd', endpoints: it.cluster.endpoints() };
  const file = { sites, redLog, partitions: { us: {} }, keyFile: 'cluster.key' };
  writeFileSync(join(folder, 'cluster.json'), JSON.stringify(file));
  createKeyFile(join(folder, 'cluster.key'));
  const [ireland, frankfurt, virginia] = await openAll(folder);
  await clientOf(ireland).invokeStrong(put('us/ann', 100));
  await clientOf(frankfurt).invokeStrong(put('eu/bob', 100));
  await move(clientOf(virginia), 'us/ann', 'eu/bob', 30);
  expect(await clientOf(ireland).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([70, 130]);
  for (const node of [ireland, frankfurt, virginia]) await node!.close();
  const again = await openAll(folder);
  await move(clientOf(again[1]), 'eu/bob', 'us/ann', 50);
  expect(await clientOf(again[0]).invokeStrong(get('us/ann'))).toBe(120);
  expect(await clientOf(again[2]).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([120, 80]);
});
