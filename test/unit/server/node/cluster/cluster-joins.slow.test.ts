/**
 * Sites that join a cluster, are rebuilt, or stop, in one process over real links. Each test waits
 * for several nodes.
 */
// @rule CLU-T9
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from 'correctables';
import { findSites, redblue } from 'correctables/bindings/redblue';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { silentLogger } from '../../../../../src/server/gateway/context/logger.ts';
import type { RunningNode } from '../../../../../src/server/serve-cluster.ts';
import { clusterContract } from '../../../../support/cluster-service.ts';
import {
  NAMES,
  createFiles,
  open,
  openAll,
  serveSite,
  createFilesOfFour,
} from './cluster-nodes.ts';

const { add } = clusterContract;

test('a site is rebuilt while the red log has no majority → it names the site that is away', async () => {
  const files = await createFiles();
  const [, b, c] = (await openAll(files)) as [ClusterNode, ClusterNode, ClusterNode];
  await b.close();
  await c.close();
  const log: string[] = [];
  const logger = { ...silentLogger, info: (_: object, message: string) => log.push(message) };
  const opening = serveSite(files, 'c', { rebuild: true, dataDir: files.dataDir('new'), logger });
  const reason = expect.stringMatching(
    /^waiting to become a member: a was asked.*; b cannot be reached \(/,
  );
  await vi.waitFor(() => expect(log).toContainEqual(reason), { timeout: 20_000 });
  await open(files, 'b');
  expect((await opening).status().state).toBe('serving');
});

test('a site joins while another one is away → it is not ready, names that site, and clients use the next site', async () => {
  const [three, four] = await createFilesOfFour();
  const [a, , c] = (await Promise.all(
    NAMES.map((site) => serveSite(three, site)),
  )) as RunningNode[];
  await c?.close({ drainMs: 0 });
  const log: string[] = [];
  const logger = { ...silentLogger, info: (_: object, message: string) => log.push(message) };
  const opening = serveSite(four, 'd', { rebuild: true, logger });
  const reason = 'waiting for c to confirm that d joins';
  await vi.waitFor(() => expect(log).toContain(reason), { timeout: 20_000 });
  const { url } = JSON.parse(readFileSync(four.cluster, 'utf8')).sites.d as {
    readonly url: string;
  };
  const get = (path: string): Promise<Response> => fetch(`${url.replace('ws:', 'http:')}/${path}`);
  const ready = await get('ready');
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason }]);
  expect((await get('health')).status).toBe(200);
  expect(await (await get('metrics')).text()).toContain('correctables_serving{site="d"} 0');
  const client = createClient(
    redblue(clusterContract, { url: [`${url}/d`, a?.siteUrl ?? ''], WebSocket }),
  );
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
  await expect(
    serveSite(files, 'a', { rebuild: true, dataDir: files.dataDir('new') }),
  ).rejects.toMatchObject({
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
  const client = createClient(redblue(clusterContract, { url: urls, WebSocket }), {
    timeoutMs: 20_000,
  });
  onTestFinished(() => client.close());
  await client.invokeStrong(add({ key: 'one' }));
  await b.close({ drainMs: 0 });
  await client.invokeStrong(add({ key: 'two' }));
  const metrics = await (await fetch(`${a.url}/metrics`)).text();
  expect(metrics).toMatch(/correctables_link_sent_messages_total\{site="a",peer="b"\} [1-9]/);
  expect(metrics).toContain('correctables_red_order_reachable{site="a"} 1');
});
