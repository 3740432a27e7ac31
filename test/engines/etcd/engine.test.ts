/**
 * A real etcd cluster of ours: what listens, what is delayed, and what becomes of it when servers
 * die.
 */
import { cpSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Site } from '../../../engines/wan.ts';
import { listeningAddresses } from '../support/listening.ts';
import { medianMs } from '../support/median.ts';
import { withEtcd } from '../support/etcd.ts';

const it = withEtcd({ wan: 'paper' });

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const put = (site: Site, key: string, value: string): Promise<unknown> =>
  it.cluster.request(site, 'kv/put', { key: base64(key), value: base64(value) });
async function get(site: Site, key: string, isLocal = false): Promise<string | undefined> {
  const request = { key: base64(key), serializable: isLocal };
  const { kvs = [] } = await it.cluster.request<{ kvs?: { value: string }[] }>(
    site,
    'kv/range',
    request,
  );
  return kvs[0] && Buffer.from(kvs[0].value, 'base64').toString();
}

test('cluster: started → one leader, two followers, of the pinned version', async () => {
  const roles = await it.cluster.roles();
  expect(Object.values(roles).toSorted()).toEqual(['follower', 'follower', 'leader']);
  expect((await it.cluster.status('virginia'))?.version).toBe('3.7.3');
});

test('cluster: nothing listens off the loopback interface', (context) => {
  context.skip(process.platform !== 'linux', "Linux's tables of sockets are read");
  const { servers, proxy } = it.cluster.state;
  const pids = [...Object.values(servers), ...(proxy === undefined ? [] : [proxy])].map(
    ({ pid }) => pid,
  );
  expect(pids).toHaveLength(4);
  for (const pid of pids)
    for (const address of listeningAddresses(pid)) expect(address).toMatch(/^127\./);
});

test("cluster: the paper's delays → a write at the leader takes the trip to the nearer follower", async () => {
  const leader = (await it.cluster.leader()) as Site;
  const trips = { ireland: 20, frankfurt: 20, virginia: 83 };
  const takenMs = await medianMs(9, () => put(leader, 'delays', 'v'));
  // A busy machine adds, and never takes away.
  expect(takenMs).toBeGreaterThan(trips[leader] - 1);
  const localMs = await medianMs(9, () => get(leader, 'delays', true));
  expect(localMs).toBeLessThan(takenMs);
});

test('leader: killed → another one leads; restarted → its data are kept', async () => {
  const leader = (await it.cluster.leader()) as Site;
  await put(leader, 'killed', 'before');
  await it.cluster.kill(leader);
  expect(it.cluster.isRunning(leader)).toBe(false);
  const others = it.cluster.sites.filter((site) => site !== leader);
  await Promise.all(others.map((site) => it.cluster.untilServing(site)));
  expect(others).toContain(await it.cluster.leader());
  await put(others[0] as Site, 'killed', 'meanwhile');
  await it.cluster.restart(leader);
  expect(await get(leader, 'killed')).toBe('meanwhile');
});

test('follower: frozen → writes go on; goes on → it has what it missed', async () => {
  const leader = (await it.cluster.leader()) as Site;
  const frozen = it.cluster.sites.find((site) => site !== leader) as Site;
  it.cluster.signal(frozen, 'SIGSTOP');
  await put(leader, 'frozen', 'meanwhile');
  it.cluster.signal(frozen, 'SIGCONT');
  // It may have to find its leader first.
  await it.cluster.untilServing(frozen);
  expect(await get(frozen, 'frozen')).toBe('meanwhile');
});

test('all: put back to older data → they serve that', async () => {
  await put('ireland', 'older', 'then');
  const { cluster } = it;
  const killAll = (): Promise<unknown> =>
    Promise.all(cluster.sites.map((site) => cluster.kill(site)));
  const restartAll = async (): Promise<void> => {
    await Promise.all(cluster.sites.map((site) => cluster.launch(site)));
    await Promise.all(cluster.sites.map((site) => cluster.untilServing(site)));
  };
  const copy = (from: (site: Site) => string, to: (site: Site) => string): void => {
    for (const site of cluster.sites) {
      rmSync(to(site), { recursive: true, force: true });
      cpSync(from(site), to(site), { recursive: true });
    }
  };
  const data = (site: Site): string => cluster.dataFolder(site);
  const copied = (site: Site): string => `${cluster.dataFolder(site)}-copy`;
  await killAll();
  copy(data, copied);
  await restartAll();
  await put('frankfurt', 'older', 'now');
  await killAll();
  copy(copied, data);
  await restartAll();
  expect(await get('virginia', 'older')).toBe('then');
});

test('one: its disk is lost → an empty server in its place has all data', async () => {
  const leader = (await it.cluster.leader()) as Site;
  const lost = it.cluster.sites.find((site) => site !== leader) as Site;
  await put(leader, 'lost', 'before');
  await it.cluster.kill(lost);
  rmSync(it.cluster.dataFolder(lost), { recursive: true });
  await expect.poll(() => it.cluster.replace(lost).then(() => 'replaced', String)).toBe('replaced');
  await expect.poll(() => get(lost, 'lost', true)).toBe('before');
});
