/**
 * Three sites as processes with their red log on a real etcd: servers and sites are killed, frozen
 * and put back.
 */
import { cpSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { Site } from '../../../engines/wan.ts';
import { ClusterProcesses, SITES } from '../../support/cluster-processes.ts';
import { clusterContract } from '../../support/cluster-service.ts';
import { runProgram } from '../../support/run-program.ts';
import { withEtcd } from '../support/etcd.ts';

const { add, take, keys, runs } = clusterContract;
const it = withEtcd();

async function createCluster(): Promise<ClusterProcesses> {
  const cluster = await ClusterProcesses.create(SITES, undefined, {
    engine: 'etcd',
    endpoints: it.cluster.endpoints(),
  });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  await cluster.startAll();
  return cluster;
}

/** Waits until every site has exactly these keys. */
async function expectKeys(cluster: ClusterProcesses, expected: readonly string[]): Promise<void> {
  for (const site of SITES) {
    const client = cluster.client(site);
    await expect
      .poll(() => client.invokeStrong(keys({})), { message: site })
      .toEqual([...expected].toSorted());
  }
}

interface RedLogReport {
  readonly status: {
    readonly redLeader: string;
    readonly redLog: { readonly isConnected: boolean; readonly quotaBytes: number };
  };
}

async function kinds(cluster: ClusterProcesses, site: Site): Promise<readonly string[]> {
  const reports = await cluster.status();
  return (
    reports.find((report) => report.site === site)?.status?.alarms.map(({ kind }) => kind) ?? []
  );
}

test('blue and red operations at all sites → everywhere, and the status shows etcd', async () => {
  const cluster = await createCluster();
  for (const site of SITES) {
    const client = cluster.client(site);
    await client.invokeStrong(add({ key: `blue ${site}` }));
    await client.invokeStrong(take({ key: `red ${site}` }));
  }
  await expectKeys(
    cluster,
    SITES.flatMap((site) => [`blue ${site}`, `red ${site}`]),
  );
  await expect
    .poll(async () =>
      (await cluster.status()).map((report) => (report as unknown as RedLogReport).status),
    )
    .toMatchObject(
      SITES.map(() => ({
        redLeader: 'etcd',
        redLog: { isConnected: true, quotaBytes: 2 * 1024 ** 3 },
      })),
    );
  const { origin } = new URL((cluster.urls['ireland'] as string).replace('ws:', 'http:'));
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  expect(metrics).toMatch(/^correctables_red_log_connected\{site="ireland"\} 1$/m);
});

test('the leader of etcd and a site are killed while clients work → each red operation once, in one order', async () => {
  const cluster = await createCluster();
  const client = cluster.client('ireland', 'frankfurt');
  const places: number[] = [];
  const leader = (await it.cluster.leader()) as Site;
  for (let n = 1; n <= 30; n += 1) {
    if (n === 10) await it.cluster.kill(leader);
    if (n === 20) await cluster.end('virginia', 'SIGKILL');
    places.push((await client.invokeStrong(take({ key: String(n).padStart(3, '0') }))) as number);
  }
  expect(places).toEqual(places.map((_, index) => index + 1));
  await it.cluster.restart(leader);
  await cluster.start('virginia');
  const all = places.map((n) => String(n).padStart(3, '0'));
  await expectKeys(cluster, all);
  const reader = cluster.client('virginia');
  for (const key of all) expect(await reader.invokeStrong(runs({ key })), key).toBe(1);
});

test('no majority of etcd → an alarm, blue goes on; again there → red goes on', async () => {
  const cluster = await createCluster();
  const client = cluster.client('ireland');
  await client.invokeStrong(take({ key: 'before' }));
  const frozen = it.cluster.sites.slice(1);
  for (const site of frozen) it.cluster.signal(site, 'SIGSTOP');
  onTestFinished(() => frozen.forEach((site) => it.cluster.signal(site, 'SIGCONT')));
  await expect.poll(() => kinds(cluster, 'ireland')).toContain('red-log-unreachable');
  await client.invoke(add({ key: 'meanwhile' }));
  const red = client.invokeStrong(take({ key: 'waits' }));
  for (const site of frozen) it.cluster.signal(site, 'SIGCONT');
  expect(await red).toBe(2);
  await expectKeys(cluster, ['before', 'meanwhile', 'waits']);
  expect(await kinds(cluster, 'ireland')).toContain('red-log-reachable');
});

test('etcd is put back to older disks → red halts; restored → nothing that was confirmed is lost', async () => {
  const cluster = await createCluster();
  const { cluster: etcd } = it;
  const client = cluster.client('ireland');
  await client.invokeStrong(take({ key: 'a' }));
  const onAll = (action: (site: Site) => Promise<void>): Promise<unknown> =>
    Promise.all(etcd.sites.map(action));
  const restart = async (): Promise<void> => {
    await onAll((site) => etcd.launch(site));
    await onAll((site) => etcd.untilServing(site));
  };
  const copy = (site: Site): string => `${etcd.dataFolder(site)}-copy`;
  await onAll((site) => etcd.kill(site));
  for (const site of etcd.sites) cpSync(etcd.dataFolder(site), copy(site), { recursive: true });
  await restart();
  for (const key of ['b', 'c']) await client.invokeStrong(take({ key }));
  await expectKeys(cluster, ['a', 'b', 'c']);
  await onAll((site) => etcd.kill(site));
  for (const site of etcd.sites) {
    rmSync(etcd.dataFolder(site), { recursive: true });
    cpSync(copy(site), etcd.dataFolder(site), { recursive: true });
  }
  await restart();
  for (const site of SITES)
    await expect.poll(() => kinds(cluster, site)).toContain('red-log-halted');
  const { code, stdout } = await cluster.command('restore-red');
  expect({ code, stdout: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    stdout: { generation: 1 },
  });
  expect(await cluster.client('virginia').invokeStrong(take({ key: 'd' }))).toBe(4);
  await expectKeys(cluster, ['a', 'b', 'c', 'd']);
});

test('all sites go back to backups of all, made while none ran, with an empty etcd → red goes on (STO-38)', async () => {
  const cluster = await createCluster();
  const { cluster: etcd } = it;
  await cluster.client('ireland').invokeStrong(add({ key: 'blue' }));
  await cluster.client('virginia').invokeStrong(take({ key: 'red' }));
  await expectKeys(cluster, ['blue', 'red']);
  const endAll = (): Promise<unknown> =>
    Promise.all(SITES.map((site) => cluster.end(site, 'SIGTERM')));
  const backup = (site: Site): string => `${cluster.dataDir(site)}-backup`;
  await endAll();
  for (const site of SITES) {
    const args = ['dist/cli/main.js', 'backup', cluster.dataDir(site), backup(site)];
    expect(await runProgram(args)).toMatchObject({ code: 0, stderr: '' });
  }
  await cluster.startAll();
  await cluster.client('ireland').invokeStrong(take({ key: 'after' }));
  await endAll();
  await Promise.all(etcd.sites.map((site) => etcd.kill(site)));
  for (const site of etcd.sites) rmSync(etcd.dataFolder(site), { recursive: true });
  await Promise.all(etcd.sites.map((site) => etcd.launch(site)));
  await Promise.all(etcd.sites.map((site) => etcd.untilServing(site)));
  for (const site of SITES) {
    rmSync(cluster.dataDir(site), { recursive: true });
    cpSync(backup(site), cluster.dataDir(site), { recursive: true });
  }
  await cluster.startAll();
  expect(await cluster.command('restore-red')).toMatchObject({ code: 0, stderr: '' });
  expect(await cluster.client('virginia').invokeStrong(take({ key: 'again' }))).toBe(2);
  await expectKeys(cluster, ['again', 'blue', 'red']);
});
