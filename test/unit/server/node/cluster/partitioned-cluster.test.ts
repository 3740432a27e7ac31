/** Nodes of a cluster with several red logs refuse files that do not fit their directories. */
// @rule PART-G11, CLU-G8
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { getMany, put } from 'correctables/operations';
import { freePorts } from '../../../../../engines/ports.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import {
  NAMES,
  OTHER_LEADERS,
  alarms,
  clientOf,
  copyFile,
  createFiles,
  move,
  open,
  openAll,
} from './partitioned-nodes.ts';

test('all nodes are started again → all logs go on where they were', async () => {
  const cluster = await createFiles();
  const nodes = await openAll(cluster);
  const [first] = nodes as [ClusterNode];
  await clientOf(first).invokeStrong(put('us/ann', 100));
  await move(clientOf(first), 'us/ann', 'eu/bob', 30);
  for (const node of nodes) await node.close();
  const [, again] = (await openAll(cluster)) as [ClusterNode, ClusterNode];
  await move(clientOf(again), 'us/ann', 'eu/bob', 30);
  expect(await clientOf(again).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([40, 60]);
});

test('a node whose file has another leader for a partition → is refused by its peers, and named', async () => {
  const cluster = await createFiles();
  const other = copyFile(cluster, {
    partitions: { us: { leader: 'frankfurt', voters: ['virginia', 'frankfurt'] } },
  });
  void open(other, 'ireland').catch(() => {});
  void open(cluster, 'frankfurt').catch(() => {});
  const refused = (): string[] =>
    alarms.map(({ message }) => message).filter((text) => text.includes('partitions of'));
  await vi.waitFor(() =>
    expect(refused()[0]).toMatch(/partitions of cluster\.json is .*"frankfurt".* at ireland/),
  );
});

test('a directory with other partitions → is refused with what it has', async () => {
  const cluster = await createFiles();
  for (const node of await openAll(cluster)) await node.close();
  const other = copyFile(cluster, { partitions: { eu: { leader: 'frankfurt' } } });
  await expect(open(other, 'ireland')).rejects.toThrow('has the partitions main, us, not main, eu');
});

test.each(OTHER_LEADERS)(
  'a site joins with another leader of %s in its file → the members stay',
  async (_, change) => {
    const cluster = await createFiles();
    const [ireland] = (await openAll(cluster)) as [ClusterNode];
    const [port, clusterPort] = await freePorts(2);
    const ohio = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
    const { sites } = JSON.parse(readFileSync(cluster, 'utf8')) as { readonly sites: object };
    const joining = open(copyFile(cluster, { ...change, sites: { ...sites, ohio } }), 'ohio', {
      rebuild: true,
    });
    await expect(joining).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'cluster' });
    expect(ireland.status.members.map(({ site }) => site)).toEqual(NAMES);
  },
);

test('the directory of the leader of a partition is lost → --rebuild is refused, with the command to run first', async () => {
  const cluster = await createFiles();
  const [, , virginia] = await openAll(cluster);
  await virginia?.close();
  const rebuilt = open(cluster, 'virginia', {
    rebuild: true,
    dataDir: join(dirname(cluster), 'new'),
  });
  await expect(rebuilt).rejects.toThrow('restore-red');
});
