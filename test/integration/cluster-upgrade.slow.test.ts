/**
 * A cluster of three processes is upgraded one node at a time while clients work, the program and
 * its service.
 */
// @rule CLU-U7
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, isCorrectableError, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { ClusterProcesses, SITES, type PackageBuild } from '../support/cluster-processes.ts';
import { copyPackage, type Replacements } from '../support/patched-package.ts';
import { root } from '../support/run-program.ts';
import { contractV1, contractV2 } from '../support/versioned-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What makes a build the next version of the program. */
const NEXT_PROGRAM: Replacements = [
  ['version: 5,\n\toldest: 4', 'version: 6,\n\toldest: 5'],
  ['version < 4 || version > 5', 'version < 5 || version > 6'],
  ['newest = 1)', 'newest = 2)'],
  ['rules: 1,\n\t\t\tservice: describeService', 'rules: 2,\n\t\t\tservice: describeService'],
];

/** A build with a version of the service, which has to be made by the package that serves it. */
async function createBuild(
  replacements: Replacements,
  name: 'shopV1' | 'shopV2',
): Promise<PackageBuild> {
  const directory = temporaryFolder();
  const cli = await copyPackage(join(directory, 'package'), replacements);
  const service = join(directory, 'package', 'service.ts');
  await copyFile(
    join(root, 'test/support/versioned-service.ts'),
    join(directory, 'package', 'versions.ts'),
  );
  await writeFile(
    service,
    `import { ${name} } from './versions.ts';\nexport const service = ${name}();\n`,
  );
  return { cli, service };
}

function openClient(
  cluster: ClusterProcesses,
  contract: typeof contractV1,
  ...sites: readonly string[]
) {
  const url = sites.map((site) => cluster.urls[site] as string) as [string, ...string[]];
  const client: Client<RedBlueLevels> = createClient(redblue(contract, { url, WebSocket }), {
    timeoutMs: 20_000,
  });
  onTestFinished(() => client.close());
  return client;
}

/** The outcomes of updates, as clients received them. */
class Ledger {
  readonly acknowledged = new Map<string, unknown>();
  /** They may have been done. */
  readonly unknown = new Set<string>();
  /** They were not. */
  readonly refused = new Map<string, string>();

  async update(id: string, run: () => PromiseLike<unknown>): Promise<void> {
    try {
      this.acknowledged.set(id, await run());
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      if (error.code === 'UNKNOWN' || error.code === 'TIMEOUT') this.unknown.add(id);
      else this.refused.set(id, `${error.code}: ${error.message}`);
      // Without the red leader all is refused at once: a client that never waits leaves no time for
      // anything else.
      await setTimeout(error.retryAfterMs ?? 100);
    }
  }
}

/**
 * A client that prefers each site, and works until the returned function is called: blue and red
 * updates in turn.
 */
function startWork(cluster: ClusterProcesses, ledger: Ledger): () => Promise<void> {
  const ending = new AbortController();
  // Otherwise it would go on after a failed test, on closed clients, until there is no memory left.
  onTestFinished(() => ending.abort());
  const working = SITES.map(async (site, place) => {
    const client = openClient(
      cluster,
      contractV1,
      site,
      ...SITES.filter((_, other) => other !== place),
    );
    for (let n = 0; !ending.signal.aborted; n += 1) {
      const [bought, taken] = [`${site} bought ${n}`, `${site} took ${n}`];
      await ledger.update(bought, () => client.invokeStrong(contractV1.buy({ id: bought })));
      await ledger.update(taken, () => client.invokeStrong(contractV1.take({ id: taken })));
    }
  });
  return async () => {
    ending.abort();
    await Promise.all(working);
  };
}

/** What the sites show, once all show the same. */
async function settle(cluster: ClusterProcesses): Promise<ReadonlyMap<string, number>> {
  const clients = SITES.map((site) => openClient(cluster, contractV1, site));
  const read = () => Promise.all(clients.map((client) => client.invokeStrong(contractV1.list({}))));
  const sort = (lists: Awaited<ReturnType<typeof read>>) =>
    lists.map((list) => JSON.stringify([...list].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  await expect.poll(async () => new Set(sort(await read())).size, { timeout: 20_000 }).toBe(1);
  return new Map((await read())[0]);
}

test('rolling upgrade under load, then activation → nothing is lost or repeated, and new operations work', async () => {
  const [old, next] = await Promise.all([
    createBuild([], 'shopV1'),
    createBuild(NEXT_PROGRAM, 'shopV2'),
  ]);
  await using cluster = await ClusterProcesses.create();
  for (const site of SITES) cluster.useBuild(site, old);
  await cluster.startAll();
  const ledger = new Ledger();
  const stopWork = startWork(cluster, ledger);
  for (const site of SITES) {
    await cluster.end(site, 'SIGTERM');
    cluster.useBuild(site, next);
    await cluster.start(site);
    const before = ledger.acknowledged.size;
    await expect
      .poll(() => ledger.acknowledged.size, { timeout: 20_000 })
      .toBeGreaterThan(before + 10);
    const client = openClient(cluster, contractV2, site);
    const tagged = client.invokeStrong(contractV2.tag({ id: 'early', text: site }));
    await expect(tagged).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('activate'),
    });
    if (site === SITES.at(-1)) break;
    const { code, stderr } = await cluster.command('activate');
    expect([code, stderr]).toEqual([1, expect.stringContaining('virginia')]);
    expect(stderr).toContain('not run the new version');
  }
  const activated = await cluster.command('activate');
  expect([activated.code, activated.stderr]).toEqual([0, '']);
  expect(JSON.parse(activated.stdout)).toMatchObject({ isNew: true, version: { rules: 2 } });
  for (const site of SITES) {
    const client = openClient(cluster, contractV2, site);
    // A site that has not delivered the record yet refuses it once more.
    await expect
      .poll(() =>
        client.invokeStrong(contractV2.tag({ id: site, text: 'new' })).then(String, String),
      )
      .toBe('null');
  }
  await stopWork();
  const sold = await settle(cluster);
  for (const id of ledger.acknowledged.keys()) expect([id, sold.get(id)]).toEqual([id, 1]);
  for (const [id, count] of sold) {
    expect([id, count]).toEqual([id, 1]);
    expect([id, ledger.acknowledged.has(id) || ledger.unknown.has(id)]).toEqual([id, true]);
  }
  const places = [...ledger.acknowledged.values()].filter((place) => place !== null);
  expect(new Set(places).size).toBe(places.length);
  const reader = openClient(cluster, contractV2, 'ireland');
  await expect.poll(() => reader.invokeStrong(contractV2.tags({}))).toBe(3);
  expect(JSON.parse((await cluster.command('activate')).stdout)).toMatchObject({ isNew: false });
  // The old version does not start any more, and leaves what is there as it is.
  await cluster.end('virginia', 'SIGTERM');
  cluster.useBuild('virginia', old);
  const { code, stderr } = await cluster.launch('virginia').ended();
  expect([code, stderr]).toEqual([1, expect.stringContaining('needs a newer version')]);
  cluster.useBuild('virginia', next);
  await cluster.start('virginia');
  expect(await openClient(cluster, contractV2, 'virginia').invokeStrong(contractV2.tags({}))).toBe(
    3,
  );
});
