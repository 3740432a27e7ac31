/** Sites as processes that are rebuilt, join and are retired while others serve. */
// @rule CLU-T6, CLU-T7, CLU-T8, PART-G11, PART-G12
import { cp, readdir, rm } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { ClusterProcesses, SITES } from '../support/cluster-processes.ts';
import { runProgram } from '../support/run-program.ts';
import { clusterContract } from '../support/cluster-service.ts';

const { add, take, keys, runs } = clusterContract;
type Client = ReturnType<ClusterProcesses['client']>;

/** Writes blue and red marks until it is ended; gives those that were acknowledged. */
function beginWork(client: Client, name: string): () => Promise<string[]> {
  const acknowledged: string[] = [];
  const work = { isEnding: false };
  const working = (async () => {
    for (let n = 0; !work.isEnding; n += 1) {
      const key = `${name} ${String(n).padStart(4, '0')}`;
      try {
        await client.invokeStrong(n % 5 === 0 ? take({ key }) : add({ key }));
        acknowledged.push(key);
      } catch (error) {
        if ((error as Error).message.startsWith('The client is closed')) return;
        // Data that only the lost site has is reported as unknown. Without the red leader nothing
        // red is begun.
        const codes = /^(UNKNOWN|UNAVAILABLE|SESSION_LOST|SESSION_BEHIND)$/;
        expect(error).toMatchObject({ code: expect.stringMatching(codes) });
      }
    }
  })();
  return async () => {
    work.isEnding = true;
    await working;
    return acknowledged;
  };
}

/**
 * Waits until these sites show the same, with all of `acknowledged`, each of which has run once.
 */
async function expectSame(
  cluster: ClusterProcesses,
  sites: readonly string[],
  acknowledged: readonly string[],
): Promise<void> {
  const clients = sites.map((site) => cluster.client(site));
  await expect
    .poll(
      async () => {
        const all = await Promise.all(clients.map((client) => client.invokeStrong(keys({}))));
        const [first] = all;
        return (
          all.every((list) => list.join() === first?.join()) &&
          acknowledged.every((key) => first?.includes(key))
        );
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  for (const client of clients)
    for (const key of acknowledged.filter((_, place) => place % 7 === 0))
      expect(await client.invokeStrong(runs({ key })), key).toBe(1);
}

/** A site that joins serves reads, and refuses writes with an error by which nothing was done. */
const WHILE_JOINING = { timeout: 20_000 };

test(
  'a directory is lost → --rebuild takes the state of another site while the others serve',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    const before = beginWork(cluster.client('virginia', 'frankfurt'), 'before');
    const end = beginWork(cluster.client('frankfurt'), 'all the time');
    const reader = cluster.client('ireland');
    await expect
      .poll(async () => (await reader.invokeStrong(keys({}))).length, { timeout: 20_000 })
      .toBeGreaterThan(60);
    await cluster.end('virginia', 'SIGKILL');
    await rm(cluster.dataDir('virginia'), { recursive: true });
    const { code, stderr } = await cluster.launch('virginia').ended();
    expect([code, stderr]).toEqual([1, expect.stringContaining('--rebuild')]);
    await cluster.start('virginia', ['--rebuild']);
    const acknowledged = [...(await end())];
    await before();
    const writer = cluster.client('virginia');
    await vi.waitFor(() => writer.invokeStrong(take({ key: 'after' })), WHILE_JOINING);
    await expectSame(cluster, SITES, [...acknowledged, 'after']);
    // It is a start like any other from then on, with the flag or without it.
    await cluster.end('virginia', 'SIGKILL');
    await cluster.start('virginia', ['--rebuild']);
    await vi.waitFor(
      () => cluster.client('virginia').invokeStrong(add({ key: 'again' })),
      WHILE_JOINING,
    );
    await expectSame(cluster, SITES, [...acknowledged, 'after', 'again']);
  },
);

test(
  'a fourth site joins and another one is retired, under load',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    const ends = [
      beginWork(cluster.client('ireland', 'frankfurt'), 'first'),
      beginWork(cluster.client('frankfurt', 'ireland'), 'second'),
    ];
    await cluster.addSite('tokyo');
    await cluster.start('tokyo', ['--join']);
    const tokyo = cluster.client('tokyo');
    await expect
      .poll(
        () =>
          tokyo.invokeStrong(add({ key: 'at tokyo' })).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    const retired = await cluster.command('retire', '--site', 'virginia');
    expect(retired).toMatchObject({ code: 0 });
    // It ends by itself, and no supervisor gets it to run again.
    const end = await cluster.ended('virginia');
    expect([end.code, end.stderr.trim().split('\n').at(-1)]).toEqual([
      3,
      expect.stringMatching(/^error: virginia is no site of the deployment any more.*--join\.$/),
    ]);
    const again = await cluster.launch('virginia').ended();
    expect([again.code, again.stderr]).toEqual([
      3,
      expect.stringContaining('virginia was closed: it was retired'),
    ]);
    // The cluster file of the command does not name tokyo.
    expect((await cluster.status()).map(({ site, status }) => [site, status?.state])).toEqual([
      ['ireland', 'serving'],
      ['frankfurt', 'serving'],
      ['virginia', undefined],
      ['tokyo', 'serving'],
    ]);
    const acknowledged = (await Promise.all(ends.map((end) => end()))).flat();
    expect(acknowledged.length).toBeGreaterThan(50);
    await expectSame(cluster, ['ireland', 'frankfurt', 'tokyo'], [...acknowledged, 'at tokyo']);
    // All restart with the members that there are now.
    for (const site of ['ireland', 'tokyo']) {
      await cluster.end(site, 'SIGKILL');
      await cluster.start(site);
    }
    await cluster.client('tokyo').invokeStrong(take({ key: 'last' }));
    await expectSame(cluster, ['ireland', 'frankfurt', 'tokyo'], [...acknowledged, 'last']);
    expect(await readdir(cluster.dataDir('tokyo'))).not.toContain('incoming');
  },
);

test(
  'away for longer than logs are kept → takes the state of another site, with its own part kept',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create(SITES, 1000);
    await cluster.startAll();
    await cluster.client('virginia').invokeStrong(add({ key: 'of virginia' }));
    await cluster.client('virginia').invokeStrong(take({ key: 'red of virginia' }));
    await cluster.end('virginia', 'SIGKILL');
    const end = beginWork(cluster.client('ireland', 'frankfurt'), 'meanwhile');
    const alarmsAt = async (name: string): Promise<readonly string[]> =>
      (await cluster.status())
        .find(({ site }) => site === name)
        ?.status?.alarms.map(({ kind }) => kind) ?? [];
    for (const site of ['ireland', 'frankfurt'])
      await expect.poll(() => alarmsAt(site), { timeout: 30_000 }).toContain('site-left-behind');
    await cluster.start('virginia');
    await expect.poll(() => alarmsAt('virginia'), { timeout: 30_000 }).toContain('site-behind');
    const acknowledged = await end();
    await expectSame(cluster, SITES, [...acknowledged, 'of virginia', 'red of virginia']);
    await cluster.client('virginia').invokeStrong(add({ key: 'again at virginia' }));
    await expectSame(cluster, SITES, [...acknowledged, 'again at virginia']);
  },
);

test(
  'put back to an older directory → refused from then on, and --rebuild moves it aside',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    await cluster.client('virginia').invokeStrong(add({ key: 'early' }));
    await cluster.end('virginia', 'SIGTERM');
    await cp(cluster.dataDir('virginia'), `${cluster.dataDir('virginia')}-copy`, {
      recursive: true,
    });
    await cluster.start('virginia');
    await cluster.client('virginia').invokeStrong(add({ key: 'late' }));
    await expectSame(cluster, SITES, ['early', 'late']);
    await cluster.end('virginia', 'SIGKILL');
    await rm(cluster.dataDir('virginia'), { recursive: true });
    await cp(`${cluster.dataDir('virginia')}-copy`, cluster.dataDir('virginia'), {
      recursive: true,
    });
    await cluster.start('virginia');
    await expect
      .poll(
        async () => (await cluster.status()).find(({ site }) => site === 'virginia')?.status?.state,
        {
          timeout: 20_000,
        },
      )
      .toBe('stopped');
    await cluster.end('virginia', 'SIGKILL');
    const { code, stderr } = await cluster.launch('virginia').ended();
    expect([code, stderr]).toEqual([3, expect.stringContaining('--rebuild')]);
    // The reason stands there once.
    expect(stderr.match(/another node has gone on/g)).toHaveLength(1);
    await cluster.start('virginia', ['--rebuild']);
    const writer = cluster.client('virginia');
    await vi.waitFor(() => writer.invokeStrong(add({ key: 'again' })), WHILE_JOINING);
    await expectSame(cluster, SITES, ['early', 'late', 'again']);
    expect(await readdir(cluster.dataDir('virginia'))).toContainEqual(
      expect.stringMatching(/^replaced-/),
    );
  },
);

test(
  'the site of the red leader is lost → restore-red lets another site lead, and the old one follows when it is back',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    const before = beginWork(cluster.client('virginia'), 'before');
    const reader = cluster.client('frankfurt');
    await expect
      .poll(async () => (await reader.invokeStrong(keys({}))).length, { timeout: 20_000 })
      .toBeGreaterThan(30);
    await cluster.end('ireland', 'SIGKILL');
    const without = await cluster.command('restore-red');
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringContaining('give --without ireland'),
    ]);
    const restored = await cluster.command('restore-red', '--without', 'ireland');
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const { leader } = JSON.parse(restored.stdout) as { readonly leader: string };
    expect(['frankfurt', 'virginia']).toContain(leader);
    await cluster.client('virginia').invokeStrong(take({ key: 'under the new leader' }));
    await cluster.start('ireland');
    await cluster.client('ireland').invokeStrong(take({ key: 'at the old leader' }));
    const acknowledged = [...(await before()), 'under the new leader', 'at the old leader'];
    await expectSame(cluster, SITES, acknowledged);
    // The generation survives restarts of all.
    for (const site of SITES) await cluster.end(site, 'SIGKILL');
    await cluster.startAll();
    await cluster.client('ireland').invokeStrong(take({ key: 'after restarts' }));
    await expectSame(cluster, SITES, [...acknowledged, 'after restarts']);
  },
);

test(
  'the leader of a partition is lost → restore-red opens its log at another site, and nothing acknowledged is lost',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create(SITES, undefined, undefined, {
      us: { leader: 'virginia' },
    });
    await cluster.startAll();
    const ends = [
      beginWork(cluster.client('frankfurt'), 'us/at frankfurt'),
      beginWork(cluster.client('virginia', 'ireland'), 'us/at virginia'),
      beginWork(cluster.client('ireland'), 'in main'),
    ];
    const reader = cluster.client('frankfurt');
    await expect
      .poll(async () => (await reader.invokeStrong(keys({}))).length, { timeout: 20_000 })
      .toBeGreaterThan(60);
    await cluster.end('virginia', 'SIGKILL');
    // The log of main does not wait for the leader of another one.
    await cluster.client('ireland').invokeStrong(take({ key: 'while us is away' }));
    const restored = await cluster.command('restore-red', '--without', 'virginia');
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const { leader, logs } = JSON.parse(restored.stdout) as {
      readonly leader: string;
      readonly logs: readonly { readonly name: string; readonly leader: string }[];
    };
    expect([leader, logs]).toEqual([
      'ireland',
      [expect.objectContaining({ name: 'us', losing: [] })],
    ]);
    expect(['ireland', 'frankfurt']).toContain(logs[0]?.leader);
    const later = ['us/under the new leader', 'in main under the old one'];
    for (const key of later) await cluster.client('frankfurt').invokeStrong(take({ key }));
    const acknowledged = [
      ...(await Promise.all(ends.map((end) => end()))).flat(),
      'while us is away',
      ...later,
    ];
    await expectSame(cluster, ['ireland', 'frankfurt'], acknowledged);
    // The generation survives restarts of all.
    for (const site of ['ireland', 'frankfurt']) await cluster.end(site, 'SIGKILL');
    await Promise.all(['ireland', 'frankfurt'].map((site) => cluster.start(site)));
    await cluster.client('ireland').invokeStrong(take({ key: 'us/after restarts' }));
    await expectSame(cluster, ['ireland', 'frankfurt'], [...acknowledged, 'us/after restarts']);
  },
);

test(
  'a majority is lost that confirmed more than the rest has → restore-red is refused, or the returning sites keep that in a file',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    await cluster.client('virginia').invokeStrong(take({ key: 'everywhere' }));
    await cluster.end('virginia', 'SIGKILL');
    await cluster.client('frankfurt').invokeStrong(take({ key: 'at a majority' }));
    await Promise.all([cluster.end('ireland', 'SIGKILL'), cluster.end('frankfurt', 'SIGKILL')]);
    // It serves once it has waited for another site.
    await cluster.start('virginia');
    const lost = ['--without', 'ireland,frankfurt'];
    const refused = await cluster.command('restore-red', ...lost);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('confirmed red records may be lost'),
    ]);

    const accepted = await cluster.command('restore-red', ...lost, '--accept-loss');
    expect([accepted.code, accepted.stderr]).toEqual([0, '']);
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      leader: 'virginia',
      losing: ['ireland', 'frankfurt'],
    });
    await Promise.all([cluster.start('ireland'), cluster.start('frankfurt')]);
    const reader = cluster.client('ireland');
    await expect
      .poll(() => reader.invokeStrong(keys({})), { timeout: 20_000 })
      .toEqual(['everywhere']);
    // One of them may still be about to follow.
    for (const site of ['ireland', 'frankfurt'])
      await expect
        .poll(() => readdir(cluster.dataDir(site)), { timeout: 20_000 })
        .toContain('dropped-red-records-1.json');
  },
);

test(
  'a majority of the voters of several logs is lost → each loss has to be accepted, and all logs go on',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create(SITES, undefined, undefined, {
      us: { leader: 'frankfurt' },
    });
    await cluster.startAll();
    await cluster.client('virginia').invokeStrong(take({ key: 'us/everywhere' }));
    await cluster.client('virginia').invokeStrong(take({ key: 'everywhere' }));
    await cluster.end('virginia', 'SIGKILL');
    await cluster.client('ireland').invokeStrong(take({ key: 'us/at a majority' }));
    await Promise.all([cluster.end('ireland', 'SIGKILL'), cluster.end('frankfurt', 'SIGKILL')]);
    await cluster.start('virginia');
    const lost = ['--without', 'ireland,frankfurt', '--accept-loss'];
    const refused = await cluster.command('restore-red', ...lost, 'us');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('confirmed records of the red log of main may be lost'),
    ]);

    const accepted = await cluster.command('restore-red', ...lost);
    expect([accepted.code, accepted.stderr]).toEqual([0, '']);
    const outcome = { leader: 'virginia', losing: ['ireland', 'frankfurt'] };
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      ...outcome,
      logs: [{ name: 'us', ...outcome }],
    });
    await Promise.all([cluster.start('ireland'), cluster.start('frankfurt')]);
    const reader = cluster.client('frankfurt');
    const kept = ['everywhere', 'us/everywhere'];
    await expect.poll(() => reader.invokeStrong(keys({})), { timeout: 20_000 }).toEqual(kept);
    const later = ['later', 'us/later'];
    for (const key of later) await cluster.client('ireland').invokeStrong(take({ key }));
    await expectSame(cluster, SITES, [...kept, ...later]);
    expect(await readdir(cluster.dataDir('ireland'))).toContain('dropped-red-records-1.json');
  },
);

test(
  'all sites go back to a backup of one that ran → the others are rebuilt from it (STO-38)',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create();
    await cluster.startAll();
    await cluster.client('virginia').invokeStrong(add({ key: 'blue in the backup' }));
    await cluster.client('ireland').invokeStrong(take({ key: 'red in the backup' }));
    await cluster.client('ireland').invokeStrong(runs({ key: 'blue in the backup' }));
    await backUp(cluster, 'ireland');
    await cluster.client('ireland').invokeStrong(take({ key: 'after the backup' }));
    await putBack(cluster, 'ireland');
    await Promise.all([
      cluster.start('ireland'),
      ...SITES.slice(1).map((site) => cluster.start(site, ['--rebuild'])),
    ]);
    const writer = cluster.client('virginia');
    await vi.waitFor(() => writer.invokeStrong(take({ key: 'later' })), WHILE_JOINING);
    await expectSame(cluster, SITES, ['blue in the backup', 'red in the backup', 'later']);
    expect(await cluster.client('frankfurt').invokeStrong(keys({}))).not.toContain(
      'after the backup',
    );
  },
);

test(
  'all sites go back to a backup of one, with a red log that another one led → all logs go on (STO-38)',
  { timeout: 120_000 },
  async () => {
    await using cluster = await ClusterProcesses.create(SITES, undefined, undefined, {
      us: { leader: 'frankfurt' },
    });
    await cluster.startAll();
    const kept = ['blue', 'us/red', 'red'];
    await cluster.client('virginia').invokeStrong(add({ key: 'blue' }));
    await cluster.client('virginia').invokeStrong(take({ key: 'us/red' }));
    await cluster.client('ireland').invokeStrong(take({ key: 'red' }));
    for (const key of kept) await cluster.client('ireland').invokeStrong(runs({ key }));
    await backUp(cluster, 'ireland');
    await cluster.client('ireland').invokeStrong(take({ key: 'us/after' }));
    await putBack(cluster, 'ireland');
    await cluster.start('ireland');
    const others = ['--without', 'frankfurt,virginia', '--accept-loss'];
    expect(await cluster.command('restore-red', ...others)).toMatchObject({ code: 0, stderr: '' });
    await Promise.all(SITES.slice(1).map((site) => cluster.start(site, ['--rebuild'])));
    const later = ['later', 'us/later'];
    const writer = cluster.client('virginia');
    for (const key of later)
      await vi.waitFor(() => writer.invokeStrong(take({ key })), WHILE_JOINING);
    await expectSame(cluster, SITES, [...kept, ...later]);
    expect(await cluster.client('frankfurt').invokeStrong(keys({}))).not.toContain('us/after');
  },
);

/** Makes a backup of the directory of a site, whose node runs. */
async function backUp(cluster: ClusterProcesses, site: string): Promise<void> {
  const paths = [cluster.dataDir(site), `${cluster.dataDir(site)}-backup`];
  expect(await runProgram(['dist/cli/main.js', 'backup', ...paths])).toMatchObject({ code: 0 });
}

/** Ends all nodes, removes their directories, and puts the backup of one in its place. */
async function putBack(cluster: ClusterProcesses, site: string): Promise<void> {
  for (const item of SITES) await cluster.end(item, 'SIGTERM');
  for (const item of SITES) await rm(cluster.dataDir(item), { recursive: true });
  await cp(`${cluster.dataDir(site)}-backup`, cluster.dataDir(site), { recursive: true });
}
