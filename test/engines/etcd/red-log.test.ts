/**
 * The red log on a real etcd: the conformance suite of all red logs, and what becomes of records
 * when servers fail.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Site } from '../../../engines/wan.ts';
import { MAX_RECORD_BYTES } from '../../../src/server/log/etcd/etcd-groups.ts';
import { EtcdLog } from '../../../src/server/log/etcd/etcd-log.ts';
import { EtcdServers, QUOTA_BYTES } from '../../chaos/etcd-servers.ts';
import { describeRedLog } from '../../support/log-conformance/red-log.ts';
import { CuttableRoute } from '../support/cuttable-route.ts';
import { EtcdSites } from '../support/etcd-sites.ts';
import { withEtcd } from '../support/etcd.ts';
import { RealRedLogServer } from '../support/real-red-log.ts';

const it = withEtcd({ quotaBytes: QUOTA_BYTES });

describeRedLog({
  name: 'a real etcd',
  make: (options, server) =>
    new EtcdLog(options, { deployment: server?.deployment ?? '', generation: 0 }),
  createServer: () => new RealRedLogServer(it.cluster),
});

const open = (markEvery?: number): EtcdSites => new EtcdSites(it.cluster, { markEvery }).startAll();

const servers = (): EtcdServers =>
  new EtcdServers({ cluster: it.cluster, cli: '', clusterFile: '' });

/** A way to the first server whose directions a test can hold. */
async function openRoute(): Promise<{
  endpoint: string;
  route: CuttableRoute;
  held: Set<'target' | 'client'>;
}> {
  const held = new Set<'target' | 'client'>();
  const target = new URL(it.cluster.endpoint('ireland')).host;
  const route = await CuttableRoute.open(target, (towards) => (held.has(towards) ? Infinity : 0));
  onTestFinished(() => route[Symbol.asyncDispose]());
  return { endpoint: `http://${route.address}`, route, held };
}

async function expectTaken(sites: EtcdSites, records: readonly string[]): Promise<void> {
  for (const site of sites.all) await expect.poll(() => site.taken).toEqual(records);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function countKeys({ deployment }: EtcdSites, of = `/${deployment}/`): Promise<number> {
  const range = { key: base64(of), range_end: base64(`${of.slice(0, -1)}0`), count_only: true };
  return Number(
    (await it.cluster.request<{ count?: string }>('ireland', 'kv/range', range)).count ?? 0,
  );
}

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => String(n).padStart(3, '0'));

describe('servers of etcd fail', () => {
  test('the leader is killed and a follower frozen while sites propose → each record once, in one order', async () => {
    const sites = open();
    const records = names(90);
    const propose = (from: number, to: number): void =>
      records.slice(from, to).forEach((record, n) => sites.propose(n % 3, record));
    propose(0, 30);
    const leader = (await it.cluster.leader()) as Site;
    await it.cluster.kill(leader);
    propose(30, 60);
    await it.cluster.restart(leader);
    const frozen = (await it.cluster.leader()) as Site;
    it.cluster.signal(frozen, 'SIGSTOP');
    onTestFinished(() => it.cluster.signal(frozen, 'SIGCONT'));
    propose(60, 90);
    for (const { taken } of sites.all) await expect.poll(() => taken.toSorted()).toEqual(records);
    it.cluster.signal(frozen, 'SIGCONT');
    const [first, ...others] = sites.all;
    for (const { taken } of others) expect(taken).toEqual(first?.taken);
  });

  test('all are killed after an acknowledgement → it is there for a site without a disk', async () => {
    const sites = open();
    sites.propose(1, 'a', 'b');
    await expectTaken(sites, ['a', 'b']);
    await Promise.all(it.cluster.sites.map((site) => it.cluster.kill(site)));
    await Promise.all(it.cluster.sites.map((site) => it.cluster.launch(site)));
    await Promise.all(it.cluster.sites.map((site) => it.cluster.untilServing(site)));
    sites.start(2, { epoch: 2 });
    await expectTaken(sites, ['a', 'b']);
  });

  test('the disks of all are put back to an older state → all sites halt', async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    await servers().copyDisks(it.cluster.sites);
    sites.propose(0, 'b');
    await expectTaken(sites, ['a', 'b']);
    await servers().putBackDisks(it.cluster.sites);
    await servers().untilAllServe();
    for (const site of sites.all) await expect.poll(() => site.kinds()).toContain('regressed');
    await expectTaken(sites, ['a', 'b']);
  });

  test('the quota is used up → reported, and the record waits; freed → taken', async () => {
    const sites = open();
    await servers().useUpQuota();
    sites.propose(0, 'a');
    await expect.poll(() => sites.site(0).kinds()).toContain('full');
    expect(sites.site(1).taken).toEqual([]);
    await servers().freeQuota();
    await expectTaken(sites, ['a']);
    const lastFull = (): unknown => sites.site(0).outputs.findLast(({ kind }) => kind === 'full');
    await expect.poll(lastFull).toEqual({ kind: 'full', message: undefined });
  });
});

describe('the way to etcd fails', () => {
  test('an acknowledgement is lost → the record is sent again, and counts once', async () => {
    const { endpoint, route, held } = await openRoute();
    const sites = open();
    sites.start(0, { epoch: 2, endpoints: [endpoint, it.cluster.endpoint('virginia')] });
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    held.add('client');
    sites.propose(0, 'b');
    await expect.poll(() => sites.site(1).taken).toEqual(['a', 'b']);
    expect(sites.site(0).taken).toEqual(['a']);
    route.down();
    await expectTaken(sites, ['a', 'b']);
    sites.propose(1, 'c');
    await expectTaken(sites, ['a', 'b', 'c']);
  });

  test('a write of a dead start lands behind the next start → void at all sites', async () => {
    const { endpoint, held } = await openRoute();
    const sites = open();
    sites.start(0, { epoch: 2, endpoints: [endpoint] });
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    held.add('target');
    sites.propose(0, 'late');
    sites.start(0, { epoch: 3, entries: sites.site(0).disk });
    sites.propose(0, 'b');
    await expect.poll(() => sites.site(1).taken).toEqual(['a', 'b']);
    const before = await countKeys(sites);
    held.clear();
    await expect.poll(() => countKeys(sites)).toBe(before + 1);
    sites.propose(1, 'c');
    await expect.poll(() => sites.site(0).taken).toEqual(['a', 'b', 'c']);
    for (const index of [1, 2])
      await expect.poll(() => sites.site(index).taken).toEqual(['a', 'b', 'c']);
  });

  test('a slow reader, behind what was compacted → takes all of it, once', async () => {
    const { endpoint, held } = await openRoute();
    const sites = open();
    sites.start(2, { epoch: 2, endpoints: [endpoint] });
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    held.add('client');
    const records = names(12).map((name) => name.repeat(200_000));
    for (const record of records) sites.propose(1, record);
    await expect.poll(() => sites.site(0).taken).toHaveLength(13);
    const { header } = await it.cluster.request<{ header: { revision: string } }>(
      'ireland',
      'kv/range',
      {
        key: base64('/'),
      },
    );
    await it.cluster.request('ireland', 'kv/compaction', {
      revision: header.revision,
      physical: true,
    });
    held.clear();
    await expectTaken(sites, ['a', ...records]);
  });
});

describe('what etcd keeps', () => {
  test('the largest record → taken at all sites', async () => {
    const sites = open();
    const record = 'x'.repeat(MAX_RECORD_BYTES - 100);
    sites.propose(0, 'a', record, 'b');
    await expectTaken(sites, ['a', record, 'b']);
  });

  test('what all sites have in a checkpoint → is deleted; a site that lacks it is behind', async () => {
    const sites = open(4);
    for (const record of names(12)) {
      sites.propose(0, record);
      await expect.poll(() => sites.site(0).taken.at(-1)).toBe(record);
    }
    await expectTaken(sites, names(12));
    for (const { log } of sites.all) log.release(12);
    await expect.poll(() => countKeys(sites, `/${sites.deployment}/0/red/`)).toBe(0);
    sites.propose(1, 'after');
    await expectTaken(sites, [...names(12), 'after']);
    sites.start(2, { epoch: 2 });
    await expect.poll(() => sites.site(2).kinds()).toContain('behind');
  });
});
