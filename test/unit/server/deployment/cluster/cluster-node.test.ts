/** Nodes of a cluster in one process, over real links: what a node refuses, and how its members change. */
// @rule CLU-T9
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, type Client } from 'correctables';
import { findSites, redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { freePorts } from '../../../../../engines/ports.ts';
import type { SiteAlarm } from '../../../../../src/server/alarms/site-alarm.ts';
import { createEmbedded } from '../../../../../src/server/deployment/embedded/embedded.ts';
import type { ClusterNode } from '../../../../../src/server/deployment/cluster/cluster-node.ts';
import { openClusterNode } from '../../../../../src/server/serve-cluster.ts';
import { createKeyFile } from '../../../../../src/server/cluster/key-file.ts';
import { silentLogger } from '../../../../../src/server/gateway/context/logger.ts';
import { serveCluster, type RunningNode, type ServeClusterOptions } from '../../../../../src/server/serve-cluster.ts';
import { inspectDataDirectory } from '../../../../../src/server/storage/directory/inspect.ts';
import { SiteBinding } from '../../../../../src/server/site/site-binding.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { clusterContract, service as marks } from '../../../../support/cluster-service.ts';
import { durableContract, service as values } from '../../../../support/durable-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const { add, take, keys } = clusterContract;
const [service, otherService] = [marks, values] as unknown as readonly [Service, Service];
const NAMES = ['a', 'b', 'c'];

/** A folder with the files of a cluster. */
interface Files {
  readonly cluster: string;
  dataDir(site: string): string;
}

async function createFiles(names: readonly string[] = NAMES): Promise<Files> {
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

const alarms: SiteAlarm[] = [];

async function open(files: Files, site: string, dataDir = files.dataDir(site)): Promise<ClusterNode> {
  const onAlarm = (alarm: SiteAlarm): number => alarms.push(alarm);
  const node = await openClusterNode(service, { cluster: files.cluster, site, dataDir, onAlarm, checkColors: false });
  onTestFinished(() => node.close());
  return node;
}

const openAll = (files: Files): Promise<ClusterNode[]> => Promise.all(NAMES.map((name) => open(files, name)));

const clientOf = (node: ClusterNode): Client<RedBlueLevels> =>
  createClient(new SiteBinding(node.name, node.site.driver), { timeoutMs: 20_000 });

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
  const [a, b] = (await Promise.all([open(files, 'a'), open(files, 'b')])) as [ClusterNode, ClusterNode];
  await clientOf(b).invoke(add({ key: 'before' }));
  await a.close();
  await b.restartSite(async () => {});
  await b.restartSite(async () => {});
  await clientOf(b).invoke(add({ key: 'after' }), { timeoutMs: 5000 });
});

test('a site is stopped while it reports its start → the two reports do not overlap, and the node opens once it runs', async () => {
  const files = await createFiles(['a']);
  const reports: string[] = [];
  const options = { cluster: files.cluster, site: 'a', dataDir: files.dataDir('a'), checkColors: false };
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
  await vi.waitFor(() => expect(second.status.problem ?? '').toMatch(/another node/), { timeout: 20_000 });
  const reported = (): string[] =>
    alarms.filter(({ kind, peer }) => kind === 'site-forked' && peer === 'b').map(({ site }) => site);
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
  await expect(open(others, 'b', files.dataDir('a'))).rejects.toThrow("is of the site 'a' of a cluster");
  const options = { cluster: files.cluster, site: 'a', dataDir: files.dataDir('a'), checkColors: false };
  await expect(openClusterNode(otherService, options)).rejects.toThrow(`not '${durableContract.name}'`);
  const embedded = { sites: ['a'] as const, dataDir: files.dataDir('a'), checkColors: false };
  expect(() => createEmbedded(service, embedded)).toThrow("is of the site 'a' of a cluster");
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
  const { checksum, ...identity } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  expect(checksum).toEqual(expect.any(String));
  writeFileSync(path, JSON.stringify({ ...identity, origin: 2 }));
  const problem = "node.json is damaged (its site is c, and its origin is 2, which is b's)";
  await expect(open(files, 'c')).rejects.toThrow(problem);
  expect(inspectDataDirectory(files.dataDir('c')).startError).toContain(problem);
  writeFileSync(path, '');
  expect(inspectDataDirectory(files.dataDir('c')).startError).toContain('node.json is damaged (it is empty)');
  rmSync(path);
  expect(inspectDataDirectory(files.dataDir('c')).startError).toContain('there is no node.json');
});

test('a site is rebuilt while the red log has no majority → it names the site that is away', async () => {
  const files = await createFiles();
  const [, b, c] = (await openAll(files)) as [ClusterNode, ClusterNode, ClusterNode];
  await b.close();
  await c.close();
  const log: string[] = [];
  const logger = { ...silentLogger, info: (_: object, message: string) => log.push(message) };
  const opening = serveSite(files, 'c', { rebuild: true, dataDir: files.dataDir('new'), logger });
  const reason = expect.stringMatching(/^waiting to become a member: a was asked.*; b cannot be reached \(/);
  await vi.waitFor(() => expect(log).toContainEqual(reason), { timeout: 20_000 });
  await open(files, 'b');
  expect((await opening).status().state).toBe('serving');
});

test.each([
  [{ site: 'mars' }, "'mars' is not one of a"],
  [{ dataDir: '' }, 'dataDir'],
  [{ maxInFlight: 0 }, 'maxInFlight: must be an integer from 1 on, got 0'],
  [{ cluster: 'nowhere.json' }, 'there is no such file'],
])('options %j → are refused by name', async (change, problem) => {
  const { cluster, dataDir } = await createFiles(['a']);
  await expect(openClusterNode(service, { cluster, site: 'a', dataDir: dataDir('a'), ...change })).rejects.toThrow(
    problem,
  );
});

async function serveSite(files: Files, site: string, more: Partial<ServeClusterOptions> = {}): Promise<RunningNode> {
  const options = { service, cluster: files.cluster, dataDir: files.dataDir(site), checkColors: false };
  const node = await serveCluster({ ...options, site, ...more });
  onTestFinished(() => node.close({ drainMs: 0 }));
  return node;
}

/** Files of a deployment of a, b and c, and of d, which is to join. */
async function createFilesOfFour(): Promise<readonly [Files, Files]> {
  const four = await createFiles([...NAMES, 'd']);
  const file = JSON.parse(readFileSync(four.cluster, 'utf8'));
  delete file.sites.d;
  const cluster = join(dirname(four.cluster), 'three.json');
  writeFileSync(cluster, JSON.stringify(file));
  return [{ ...four, cluster }, four];
}

test('a site joins while another one is away → it is not ready, names that site, and clients use the next site', async () => {
  const [three, four] = await createFilesOfFour();
  const [a, , c] = (await Promise.all(NAMES.map((site) => serveSite(three, site)))) as RunningNode[];
  await c?.close({ drainMs: 0 });
  const log: string[] = [];
  const logger = { ...silentLogger, info: (_: object, message: string) => log.push(message) };
  const opening = serveSite(four, 'd', { rebuild: true, logger });
  const reason = 'waiting for c to confirm that d joins';
  await vi.waitFor(() => expect(log).toContain(reason), { timeout: 20_000 });
  const { url } = JSON.parse(readFileSync(four.cluster, 'utf8')).sites.d as { readonly url: string };
  const get = (path: string): Promise<Response> => fetch(`${url.replace('ws:', 'http:')}/${path}`);
  const ready = await get('ready');
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason }]);
  expect((await get('health')).status).toBe(200);
  expect(await (await get('metrics')).text()).toContain('correctables_serving{site="d"} 0');
  const client = createClient(redblue(clusterContract, { url: [`${url}/d`, a?.siteUrl ?? ''], WebSocket }));
  onTestFinished(() => client.close());
  await client.invokeStrong(add({ key: 'meanwhile' }));
  await serveSite(three, 'c');
  const d = await opening;
  expect(d.status()).toMatchObject({ state: 'serving', problem: undefined });
  expect((await get('ready')).status).toBe(200);
});

test('a port for clients that is taken → the site does not become a member', async () => {
  const [three, four] = await createFilesOfFour();
  const [a] = (await Promise.all(NAMES.map((site) => serveSite(three, site)))) as [RunningNode];
  const port = Number(new URL(a.url).port);
  await expect(serveSite(four, 'd', { rebuild: true, port })).rejects.toThrow('EADDRINUSE');
  expect(a.status().members.map(({ site }) => site)).toEqual(NAMES);
});

test('the directory of the red leader is lost → --rebuild is refused, with the command to run first', async () => {
  const files = await createFiles();
  const [a] = (await openAll(files)) as [ClusterNode];
  await a.close();
  const command = `correctables cluster restore-red --cluster ${files.cluster} --without a`;
  await expect(serveSite(files, 'a', { rebuild: true, dataDir: files.dataDir('new') })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    field: 'site',
    message: expect.stringContaining(command),
  });
});

test('/sites lists the addresses of all sites, and findSites takes them', async () => {
  const files = await createFiles(['a', 'b']);
  const [a, b] = await Promise.all([serveSite(files, 'a'), serveSite(files, 'b')]);
  const urls = await findSites([a.url, b.url]);
  expect(urls.toSorted()).toEqual([a.siteUrl, b.siteUrl].toSorted());
  const client = createClient(redblue(clusterContract, { url: urls, WebSocket }), { timeoutMs: 20_000 });
  onTestFinished(() => client.close());
  await client.invokeStrong(add({ key: 'one' }));
  await b.close({ drainMs: 0 });
  await client.invokeStrong(add({ key: 'two' }));
  const metrics = await (await fetch(`${a.url}/metrics`)).text();
  expect(metrics).toMatch(/correctables_link_sent_messages_total\{site="a",peer="b"\} [1-9]/);
  expect(metrics).toContain('correctables_red_order_reachable{site="a"} 1');
});
