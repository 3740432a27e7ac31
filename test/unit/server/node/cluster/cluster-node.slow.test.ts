/**
 * Nodes of a cluster in one process, over real links: how they start again, and what a node
 * refuses.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts } from '../../../../../engines/ports.ts';
import { openEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { openClusterNode } from '../../../../../src/server/serve-cluster.ts';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { clusterContract } from '../../../../support/cluster-service.ts';
import { durableContract, service as values } from '../../../../support/durable-service.ts';
import { service, createFiles, alarms, open, openAll, clientOf } from './cluster-nodes.ts';

const { add, take, keys } = clusterContract;
const otherService = values as unknown as Service;

test('a site is stopped and started again in its process → goes on with what it has', async () => {
  const [a, b] = (await openAll(await createFiles())) as [ClusterNode, ClusterNode];
  await clientOf(b).invokeStrong(take({ key: 'before' }));
  await b.restartSite(async () => {});
  await clientOf(a).invokeStrong(take({ key: 'meanwhile' }));
  expect(await clientOf(b).invokeStrong(take({ key: 'after' }))).toBe(3);
  expect(await clientOf(b).invokeStrong(keys({}))).toEqual(['after', 'before', 'meanwhile']);
});

test('a site is started again in its process while all others are away → takes blue writes at once', async () => {
  const files = await createFiles(['a', 'b']);
  const [a, b] = (await Promise.all([open(files, 'a'), open(files, 'b')])) as [
    ClusterNode,
    ClusterNode,
  ];
  await clientOf(b).invoke(add({ key: 'before' }));
  await a.close();
  await b.restartSite(async () => {});
  await b.restartSite(async () => {});
  await clientOf(b).invoke(add({ key: 'after' }), { timeoutMs: 5000 });
});

test('a site is stopped while it reports its start → the two reports do not overlap, and the node opens once it runs', async () => {
  const files = await createFiles(['a']);
  const reports: string[] = [];
  const options = {
    cluster: files.cluster,
    site: 'a',
    dataDir: files.dataDir('a'),
    checkColors: false,
  };
  const node = await openClusterNode(service, options, {
    onStarted: async (started) => {
      reports.push('starting');
      if (reports.length === 1) void started.restartSite(async () => {});
      await new Promise(setImmediate);
      reports.push('started');
    },
    onStopping: async () => void reports.push('stopping'),
  });
  onTestFinished(() => node.close());
  expect(reports).toEqual(['starting', 'started', 'stopping', 'starting', 'started']);
});

test('a second node on a copied directory, which no site can dial → one of the two hears of the other, and stops', async () => {
  const files = await createFiles();
  const nodes = (await openAll(files)) as [ClusterNode, ClusterNode, ClusterNode];
  await clientOf(nodes[1]).invokeStrong(take({ key: 'one' }));
  await nodes[1].close();
  cpSync(files.dataDir('b'), files.dataDir('b-copy'), { recursive: true });
  const first = await open(files, 'b');
  await clientOf(first).invokeStrong(take({ key: 'two' }));
  const file = JSON.parse(readFileSync(files.cluster, 'utf8'));
  const [port] = await freePorts(1);
  file.sites.b.cluster = `127.0.0.1:${port}`;
  const cluster = join(dirname(files.cluster), 'second.json');
  writeFileSync(cluster, JSON.stringify(file));
  const second = await open({ ...files, cluster }, 'b', files.dataDir('b-copy'));
  await vi.waitFor(() => expect(second.status.problem ?? '').toMatch(/another node/), {
    timeout: 20_000,
  });
  const reported = (): string[] =>
    alarms
      .filter(({ kind, peer }) => kind === 'site-forked' && peer === 'b')
      .map(({ site }) => site);
  await vi.waitFor(() => expect(new Set(reported())).toEqual(new Set(['a', 'c'])));
  expect(first.status.state).toBe('serving');
  await clientOf(first).invokeStrong(take({ key: 'three' }));
});

test('a directory of another site, deployment or service, or of one process → is refused', async () => {
  const [files, others] = [await createFiles(['a']), await createFiles(['a', 'b'])];
  const a = await open(files, 'a');
  await clientOf(a).invokeStrong(take({ key: 'one' }));
  await a.close();
  await expect(open(others, 'a', files.dataDir('a'))).rejects.toThrow('is of the deployment');
  await expect(open(others, 'b', files.dataDir('a'))).rejects.toThrow(
    "is of the site 'a' of a cluster",
  );
  const options = {
    cluster: files.cluster,
    site: 'a',
    dataDir: files.dataDir('a'),
    checkColors: false,
  };
  await expect(openClusterNode(otherService, options)).rejects.toThrow(
    `not '${durableContract.name}'`,
  );
  const embedded = { sites: ['a'] as const, dataDir: files.dataDir('a'), checkColors: false };
  await expect(openEmbedded(service, embedded)).rejects.toThrow("is of the site 'a' of a cluster");
  // It was left as it was.
  const again = await open(files, 'a');
  expect(await clientOf(again).invokeStrong(keys({}))).toEqual(['one']);
});

test('node.json that is gone or damaged → is refused', async () => {
  const files = await createFiles(['a']);
  await (await open(files, 'a')).close();
  const path = join(files.dataDir('a'), 'node.json');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, 10));
  await expect(open(files, 'a')).rejects.toThrow('node.json is damaged');
  rmSync(path);
  await expect(open(files, 'a')).rejects.toThrow('there is no node.json');
});

test('node.json names the origin of another site → is refused; inspect reports the same', async () => {
  const files = await createFiles();
  const [, , c] = (await openAll(files)) as [ClusterNode, ClusterNode, ClusterNode];
  await clientOf(c).invokeStrong(add({ key: 'one' }));
  await c.close();
  const path = join(files.dataDir('c'), 'node.json');
  const { checksum, ...identity } = JSON.parse(readFileSync(path, 'utf8')) as Record<
    string,
    unknown
  >;
  expect(checksum).toEqual(expect.any(String));
  writeFileSync(path, JSON.stringify({ ...identity, origin: 2 }));
  const problem = "node.json is damaged (its site is c, and its origin is 2, which is b's)";
  await expect(open(files, 'c')).rejects.toThrow(problem);
  expect((await inspectDataDirectory(files.dataDir('c'))).startError).toContain(problem);
  writeFileSync(path, '');
  expect((await inspectDataDirectory(files.dataDir('c'))).startError).toContain(
    'node.json is damaged (it is empty)',
  );
  rmSync(path);
  expect((await inspectDataDirectory(files.dataDir('c'))).startError).toContain(
    'there is no node.json',
  );
});

test.each([
  [{ site: 'mars' }, "'mars' is not one of a"],
  [{ dataDir: '' }, 'dataDir'],
  [{ maxInFlight: 0 }, 'maxInFlight: must be an integer from 1 on, got 0'],
  [{ cluster: 'nowhere.json' }, 'there is no such file'],
])('options %j → are refused by name', async (change, problem) => {
  const { cluster, dataDir } = await createFiles(['a']);
  await expect(
    openClusterNode(service, { cluster, site: 'a', dataDir: dataDir('a'), ...change }),
  ).rejects.toThrow(problem);
});
