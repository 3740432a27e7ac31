/** Three sites as three processes, killed and started again, as an operator runs them. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { ClusterProcesses, SITES } from '../support/cluster-processes.ts';
import { clusterContract } from '../support/cluster-service.ts';

const { add, take, keys, runs } = clusterContract;

/** Waits until every site has exactly these keys. */
async function expectKeys(cluster: ClusterProcesses, expected: readonly string[]): Promise<void> {
  for (const site of SITES) {
    const client = cluster.client(site);
    await expect
      .poll(() => client.invokeStrong(keys({})), { message: site })
      .toEqual([...expected].toSorted());
  }
}

test('blue and red operations replicate between three processes', async () => {
  await using cluster = await ClusterProcesses.create();
  await cluster.startAll();
  for (const site of SITES) {
    const client = cluster.client(site);
    await client.invokeStrong(add({ key: `blue ${site}` }));
    await client.invokeStrong(take({ key: `red ${site}` }));
  }
  await expectKeys(
    cluster,
    SITES.flatMap((site) => [`blue ${site}`, `red ${site}`]),
  );
  const reports = await cluster.status();
  expect(reports.map(({ site, status }) => [site, status?.state])).toEqual(
    SITES.map((site) => [site, 'serving']),
  );
  const response = await fetch(
    `${cluster.urls['ireland']!.replace('ws', 'http').replace(/\/ireland$/, '')}/sites`,
  );
  const { sites } = (await response.json()) as { readonly sites: readonly object[] };
  expect(sites).toMatchObject(SITES.map((name) => ({ name, connected: true })));
});

test.each(['virginia', 'ireland'])(
  'kill -9 of %s while clients work → nothing is lost or repeated',
  async (killed) => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    const client = cluster.client(killed, 'frankfurt');
    const acknowledged: string[] = [];
    const work = async (): Promise<void> => {
      for (let n = 1; n <= 60; n += 1) {
        const key = String(n).padStart(3, '0');
        if (n === 20) void cluster.end(killed, 'SIGKILL');
        try {
          await client.invokeStrong(add({ key }));
          acknowledged.push(key);
        } catch (error) {
          // Data that only the killed site has is reported as unknown.
          expect(error).toMatchObject({ code: 'UNKNOWN' });
        }
      }
    };
    await work();
    expect(acknowledged.length).toBeGreaterThan(40);
    await cluster.start(killed);
    const reader = cluster.client(killed);
    await expect
      .poll(() => reader.invokeStrong(keys({})))
      .toEqual(expect.arrayContaining(acknowledged));
    const place = await reader.invokeStrong(take({ key: 'red' }));
    expect(place).toBe(1);
    const all = await reader.invokeStrong(keys({}));
    await expectKeys(cluster, all);
    for (const key of all) expect(await reader.invokeStrong(runs({ key })), key).toBe(1);
  },
);

test('a first start waits for the other sites; an empty directory of a known site is refused', async () => {
  await using cluster = await ClusterProcesses.create();
  const ireland = cluster.launch('ireland');
  await ireland.waitForStderr(1);
  await Promise.all([ireland.line(), cluster.start('frankfurt'), cluster.start('virginia')]);
  await cluster.client('ireland').invokeStrong(take({ key: 'one' }));
  await expectKeys(cluster, ['one']);
  await cluster.end('ireland', 'SIGKILL');
  await rm(cluster.dataDir('ireland'), { recursive: true });
  const { code, stderr } = await cluster.launch('ireland').ended();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /is empty, but (frankfurt|virginia) knows the site ireland already.*--rebuild/s,
  );
});

test('another program listens where clients find the site → exit code 2, the port of the cluster file', async () => {
  await using cluster = await ClusterProcesses.create(['ireland']);
  const { port } = new URL(cluster.urls['ireland'] as string);
  const taken = createServer().listen(Number(port), '127.0.0.1');
  await once(taken, 'listening');
  const { code, stderr } = await cluster.launch('ireland').ended();
  taken.close();
  expect(stderr).toContain(`--port is ${port}, where another program listens`);
  expect(code).toBe(2);
});

test('SIGTERM → the node ends cleanly and its client moves to another site', async () => {
  await using cluster = await ClusterProcesses.create();
  await cluster.startAll();
  const client = cluster.client('virginia', 'frankfurt');
  await client.invokeStrong(add({ key: 'before' }));
  const ended = cluster.end('virginia', 'SIGTERM');
  await client.invokeStrong(add({ key: 'after' }));
  expect((await ended).code).toBe(0);
  const other = cluster.client('ireland');
  await expect.poll(() => other.invokeStrong(keys({}))).toEqual(['after', 'before']);
});
