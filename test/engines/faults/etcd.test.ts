/** The faults of etcd, as the nodes of a red log meet them on three real servers. */
import { expect, onTestFinished } from 'vitest';
import { EtcdServers, QUOTA_BYTES } from '../../chaos/etcd-servers.ts';
import { TestAdapter } from '../support/etcd-adapter.ts';
import { EtcdSites } from '../support/etcd-sites.ts';
import { withEtcd } from '../support/etcd.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { etcd } from './columns/etcd.ts';
import { describeFaults } from './support/matrix.ts';

const USER = { name: 'shop', password: 'a password' };
const FREEZE_MS = process.env['ENGINES_SHORT'] === '1' ? 5_000 : 30_000;
const WAIT = { timeout: 30_000 };
const it = withEtcd({ quotaBytes: QUOTA_BYTES });
const guarded = withEtcd({ nodes: 1, user: USER });

const open = (): EtcdSites => new EtcdSites(it.cluster, {}).startAll();
const servers = (): EtcdServers =>
  new EtcdServers({ cluster: it.cluster, cli: '', clusterFile: '' });

async function expectTaken(sites: EtcdSites, records: readonly string[]): Promise<void> {
  for (const site of sites.all) await expect.poll(() => site.taken, WAIT).toEqual(records);
}

/** Three sites, of which the first reaches etcd through a route alone. */
async function openThroughRoute(): Promise<{ sites: EtcdSites; route: SilentRoute }> {
  const route = await SilentRoute.open(new URL(it.cluster.endpoint('ireland')).host);
  onTestFinished(() => route[Symbol.asyncDispose]());
  const sites = open();
  sites.start(0, { epoch: 2, endpoints: [`http://${route.address}`] });
  sites.propose(0, 'a');
  await expectTaken(sites, ['a']);
  return { sites, route };
}

async function restartAll(): Promise<void> {
  await Promise.all(it.cluster.sites.map((site) => it.cluster.launch(site)));
  await Promise.all(it.cluster.sites.map((site) => it.cluster.untilServing(site)));
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describeFaults(etcd, {
  killed: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    await Promise.all(it.cluster.sites.map((site) => it.cluster.kill(site)));
    sites.propose(1, 'b');
    await restartAll();
    await expectTaken(sites, ['a', 'b']);
  },

  frozen: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    const goOn = (): void => it.cluster.sites.forEach((site) => it.cluster.signal(site, 'SIGCONT'));
    onTestFinished(goOn);
    for (const site of it.cluster.sites) it.cluster.signal(site, 'SIGSTOP');
    sites.propose(1, 'b');
    await new Promise((resolve) => setTimeout(resolve, FREEZE_MS));
    expect(sites.site(0).taken).toEqual(['a']);
    goOn();
    await expectTaken(sites, ['a', 'b']);
  },

  cut: async () => {
    const { sites, route } = await openThroughRoute();
    route.cutSilently();
    sites.propose(0, 'b');
    await expectTaken(sites, ['a', 'b']);
  },

  halfOpen: async () => {
    const { sites, route } = await openThroughRoute();
    route.dropAnswers();
    sites.propose(0, 'b');
    await expectTaken(sites, ['a', 'b']);
  },

  moved: async () => {
    const { sites, route } = await openThroughRoute();
    route.target = new URL(it.cluster.endpoint('virginia')).host;
    route.closeAll();
    sites.propose(0, 'b');
    await expectTaken(sites, ['a', 'b']);
  },

  crashed: async () => {
    const sites = open();
    const records = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
    sites.propose(0, ...records.slice(0, 30));
    await expect.poll(() => sites.site(1).taken.length, WAIT).toBeGreaterThan(0);
    const acknowledged = [...sites.site(1).taken];
    await Promise.all(it.cluster.sites.map((site) => it.cluster.kill(site)));
    sites.propose(0, ...records.slice(30));
    await restartAll();
    await expectTaken(sites, records);
    expect(sites.site(1).taken.slice(0, acknowledged.length)).toEqual(acknowledged);
  },

  restored: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    await servers().copyDisks(it.cluster.sites);
    sites.propose(0, 'b');
    await expectTaken(sites, ['a', 'b']);
    await servers().putBackDisks(it.cluster.sites);
    await servers().untilAllServe();
    for (const site of sites.all)
      await expect.poll(() => site.kinds(), WAIT).toContain('regressed');
    await expectTaken(sites, ['a', 'b']);
  },

  credentials: async () => {
    let { password } = USER;
    const endpoints = guarded.cluster.endpoints();
    const adapter = new TestAdapter({
      endpoints,
      readSecrets: () => ({ user: { ...USER, password } }),
    });
    onTestFinished(() => adapter.close());
    await adapter.connected();
    await guarded.cluster.request('ireland', 'auth/user/changepw', {
      name: USER.name,
      password: 'another',
    });
    const read = { kind: 'etcd.range', key: '/a', end: '/b', limit: 1, revision: 0 } as const;
    await expect
      .poll(() => {
        adapter.send(read);
        return adapter.adapter.status.problem;
      }, WAIT)
      .toContain('cannot log in as shop');
    password = 'another';
    await adapter.connected(2);
    expect(await adapter.ask(read)).toMatchObject({ kind: 'etcd.range' });
  },

  space: async () => {
    const sites = open();
    await servers().useUpQuota();
    sites.propose(0, 'a');
    await expect.poll(() => sites.site(0).kinds(), WAIT).toContain('full');
    await servers().freeQuota();
    await expectTaken(sites, ['a']);
  },

  readOnly: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    const [, ...others] = it.cluster.sites;
    await Promise.all(others.map((site) => it.cluster.kill(site)));
    sites.propose(1, 'b');
    await Promise.all(others.map((site) => it.cluster.restart(site)));
    await expectTaken(sites, ['a', 'b']);
  },

  foreignValue: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    await it.cluster.request('ireland', 'kv/put', {
      key: base64('/another'),
      value: base64('value'),
    });
    sites.propose(1, 'b');
    await expectTaken(sites, ['a', 'b']);
  },

  callerLeaves: async () => {
    const sites = open();
    sites.propose(0, 'a');
    await expectTaken(sites, ['a']);
    sites.propose(0, 'in flight');
    sites.start(0, { epoch: 2, entries: sites.site(0).disk });
    sites.propose(0, 'b');
    // The record in flight has its place before the start, or is void at all sites.
    await expect.poll(() => sites.site(0).taken.at(-1), WAIT).toBe('b');
    for (const index of [1, 2])
      await expect.poll(() => sites.site(index).taken.at(-1), WAIT).toBe('b');
    expect(sites.site(1).taken).toEqual(sites.site(2).taken);
  },
});
