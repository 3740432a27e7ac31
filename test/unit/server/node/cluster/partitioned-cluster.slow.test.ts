/** Nodes of a cluster with several red logs go on when sites and leaders change. */
// @rule PART-G11, PART-M18, CLU-G8
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { get, getMany, put } from 'correctables/operations';
import { freePorts } from '../../../../../engines/ports.ts';
import { findDeployedSites } from '../../../../../src/cli/deployed-sites.ts';
import { readClusterFile } from '../../../../../src/server/node/cluster/cluster-file.ts';
import {
  restoreRedLog,
  type RestoredLog,
} from '../../../../../src/server/node/commands/restore-red-log.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import {
  NAMES,
  OTHER_LEADERS,
  clientOf,
  copyFile,
  createFiles,
  move,
  open,
  openAll,
  type Name,
} from './partitioned-nodes.ts';

test('rows of a partition → ordered at its leader, while the leader of main is away', async () => {
  const cluster = await createFiles();
  const [ireland, frankfurt, virginia] = (await openAll(cluster)) as [
    ClusterNode,
    ClusterNode,
    ClusterNode,
  ];
  const client = clientOf(frankfurt);
  await client.invokeStrong(put('us/ann', 100));
  await client.invokeStrong(put('eu/bob', 100));
  await move(client, 'us/ann', 'eu/bob', 30);
  await ireland.close();
  await clientOf(virginia).invokeStrong(put('us/tom', 5));
  expect(await client.invokeStrong(get('us/tom'))).toBe(5);
  const away = client.invokeStrong(put('eu/eve', 1));
  const cause = "the site ireland, which orders those of the partition 'main'";
  await expect(away).rejects.toMatchObject({
    code: 'UNKNOWN',
    message: expect.stringContaining(cause),
  });
  const back = await open(cluster, 'ireland');
  expect(await clientOf(back).invokeStrong(getMany(['us/ann', 'eu/bob', 'us/tom']))).toEqual([
    70, 130, 5,
  ]);
});

test('a site joins, and another one is retired → both partitions go on with the members that are left', async () => {
  const cluster = await createFiles({ partitions: { us: { leader: 'virginia' } } });
  const [ireland, frankfurt, virginia] = (await openAll(cluster)) as [
    ClusterNode,
    ClusterNode,
    ClusterNode,
  ];
  await clientOf(frankfurt).invokeStrong(put('us/ann', 100));
  const [port, clusterPort] = await freePorts(2);
  const ohio = { url: `ws://127.0.0.1:${port}`, cluster: `127.0.0.1:${clusterPort}` };
  const { sites } = JSON.parse(readFileSync(cluster, 'utf8')) as { readonly sites: object };
  const joined = await open(copyFile(cluster, { sites: { ...sites, ohio } }), 'ohio', {
    rebuild: true,
  });
  await move(clientOf(joined), 'us/ann', 'eu/bob', 30);
  ireland.site.driver.proposeChange({ name: 'frankfurt', directory: null });
  await vi.waitFor(() => expect(frankfurt.status.state).toBe('stopped'), { timeout: 20_000 });
  await move(clientOf(joined), 'us/ann', 'eu/bob', 30);
  expect(await clientOf(virginia).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([40, 60]);
  const names = virginia.status.members
    .filter(({ state }) => state === 'open')
    .map(({ site }) => site);
  expect(names).toEqual(['ireland', 'virginia', 'ohio']);
});

/** Restores the red logs without a site that is closed. */
async function restoreWithout(cluster: string, lost: Name): Promise<RestoredLog> {
  const { request } = await findDeployedSites(readClusterFile(cluster));
  return restoreRedLog({
    request,
    sites: NAMES.filter((name) => name !== lost),
    voters: [NAMES],
    leader: undefined,
    partitions: [{ name: 'us', voters: [NAMES], leader: undefined }],
  });
}

test('the leader of a partition is lost → its log goes on elsewhere, and the old leader follows when it is back', async () => {
  const cluster = await createFiles({ partitions: { us: { leader: 'virginia' } } });
  const [ireland, frankfurt, virginia] = (await openAll(cluster)) as [
    ClusterNode,
    ClusterNode,
    ClusterNode,
  ];
  await move(clientOf(virginia), 'us/ann', 'eu/bob', 30);
  await virginia.close();
  const { logs: [us] = [] } = await restoreWithout(cluster, 'virginia');
  expect(NAMES.slice(0, 2)).toContain(us?.leader);
  await move(clientOf(frankfurt), 'us/ann', 'eu/bob', 30);

  // The operator has written the new leader into the file meanwhile.
  const back = await open(
    copyFile(cluster, { partitions: { us: { leader: us?.leader } } }),
    'virginia',
  );
  const follows = (): void =>
    expect([back.status.redGeneration, back.status.redLogs]).toEqual([
      1,
      [
        { name: 'main', leader: 'ireland' },
        { name: 'us', leader: us?.leader },
      ],
    ]);
  await vi.waitFor(follows, { timeout: 10_000 });
  await vi.waitFor(() => expect(back.state.state).toBe('serving'), { timeout: 10_000 });
  await move(clientOf(back), 'us/ann', 'eu/bob', 30);
  expect(await clientOf(ireland).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([-90, 90]);

  // A file that still names the old leader is of no effect any more.
  await frankfurt.close();
  expect((await open(cluster, 'frankfurt')).status.redLogs?.[1]).toEqual({
    name: 'us',
    leader: us?.leader,
  });
});

test('all voters of a partition are lost for good → its log goes on, and the lost sites can be retired', async () => {
  const cluster = await createFiles();
  const [ireland, frankfurt, virginia] = (await openAll(cluster)) as [
    ClusterNode,
    ClusterNode,
    ClusterNode,
  ];
  await clientOf(frankfurt).invokeStrong(put('us/ann', 100));
  expect(await clientOf(ireland).invokeStrong(get('us/ann'))).toBe(100);
  await Promise.all([frankfurt.close(), virginia.close()]);
  const { request } = await findDeployedSites(readClusterFile(cluster));
  const targets = { voters: [NAMES], leader: undefined, acceptsLoss: true };
  const us = { ...targets, name: 'us', namedVoters: ['frankfurt', 'virginia'] };
  await restoreRedLog({ ...targets, request, sites: ['ireland'], partitions: [us] });

  await vi.waitFor(() => expect(ireland.state.state).toBe('serving'), { timeout: 10_000 });
  // The second change is merged with the first one, which Virginia does not confirm.
  for (const name of ['frankfurt', 'virginia'])
    ireland.site.driver.proposeChange({ name, directory: null });
  const isRetired = (): void =>
    expect(ireland.status.members.map(({ state }) => state)).toEqual(['open', 'closed', 'closed']);
  await vi.waitFor(isRetired, { timeout: 10_000 });
  await move(clientOf(ireland), 'us/ann', 'eu/bob', 30);
  expect(await clientOf(ireland).invokeStrong(getMany(['us/ann', 'eu/bob']))).toEqual([70, 30]);
}, 40_000);

test.each(OTHER_LEADERS)(
  'another leader of %s in the file → the start is refused',
  async (_, change, problem) => {
    const cluster = await createFiles();
    const [, frankfurt] = (await openAll(cluster)) as [ClusterNode, ClusterNode];
    await frankfurt.close();
    const dataDir = join(dirname(cluster), 'frankfurt');
    const manifest = readFileSync(join(dataDir, 'manifest.json'), 'utf8');
    await expect(open(copyFile(cluster, change), 'frankfurt')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'cluster',
      message: expect.stringContaining(problem.replace('DIR', dataDir)),
    });
    // The directory is as it was: with the right file, the site goes on.
    expect(readFileSync(join(dataDir, 'manifest.json'), 'utf8')).toBe(manifest);
    const back = await open(cluster, 'frankfurt');
    await move(clientOf(back), 'us/ann', 'eu/bob', 30);
  },
);
