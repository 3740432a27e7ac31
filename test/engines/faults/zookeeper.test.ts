/**
 * The faults of a store, on an ensemble of three servers that limits connections and enforces
 * quotas.
 */
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, expect } from 'vitest';
import { runFolder } from '../../../engines/folders.ts';
import { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import {
  ZooKeeper,
  zookeeper as bind,
  type Acl,
  type ZooKeeperBindingOptions,
  type ZooKeeperLevels,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient, type Client, type CorrectableError } from '../../../src/index.ts';
import { dequeue, enqueue, get, put } from '../../../src/operations/index.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { withEnsemble } from '../support/zookeeper.ts';
import { zookeeper } from './columns/zookeeper.ts';
import { describeFaults, expectRecovery, unreadable } from './support/matrix.ts';

const MAX_CONNECTIONS = 40;
const SESSION_MS = 3_000;
const TIMEOUT_MS = 8_000;
const FREEZE_MS = process.env['ENGINES_SHORT'] === '1' ? 5_000 : 30_000;

const it = withEnsemble({ settings: [`maxClientCnxns=${MAX_CONNECTIONS}`, 'enforceQuota=true'] });
type Store = Client<ZooKeeperLevels>;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function openRoute(): Promise<SilentRoute> {
  const route = await SilentRoute.open(it.ensemble.address('frankfurt'));
  ends.push(() => route[Symbol.asyncDispose]());
  return route;
}

let roots = 0;

/** A binding that reaches the server of Frankfurt alone, below a node of its own. */
function open(servers: string, options: Partial<ZooKeeperBindingOptions> = {}): Store {
  const root = `/root${(roots += 1)}`;
  const binding = bind({
    servers,
    root,
    sessionTimeoutMs: SESSION_MS,
    onBackgroundError: () => {},
    ...options,
  });
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS });
  ends.push(() => client.close());
  return client;
}

/** How an operation ended: `done`, or the code of its error. */
async function getOutcome(operation: PromiseLike<unknown>): Promise<string> {
  return await operation.then(
    () => 'done',
    (error: unknown) => (error as CorrectableError).code,
  );
}

async function expectWorking(client: Store, key = 'works'): Promise<void> {
  await expectRecovery(TIMEOUT_MS, async () => await client.invoke(put(key, 1)));
  expect(await expectRecovery(TIMEOUT_MS, async () => await client.invoke(get(key)))).toBe(1);
}

async function expectKeptThroughSilence(client: Store, fail: () => void): Promise<string> {
  await client.invoke(put('name', 'Ada'));
  fail();
  const [write, read] = await Promise.all([
    getOutcome(client.invoke(put('name', 'Bob'))),
    getOutcome(client.invoke(get('other'))),
  ]);
  expect(write).toBe('UNKNOWN');
  expect(['UNAVAILABLE', 'TIMEOUT']).toContain(read);
  return (await expectRecovery(TIMEOUT_MS, async () => await client.invoke(get('name')))) as string;
}

const digest = (user: string, password: string): string =>
  `${user}:${createHash('sha1').update(`${user}:${password}`).digest('base64')}`;

describeFaults(zookeeper, {
  killed: async () => {
    const alone = open(it.ensemble.address('frankfurt'));
    const all = open(it.ensemble.connectString('frankfurt'));
    for (const client of [alone, all]) await client.invoke(put('name', 'Ada'));
    it.ensemble.signal('frankfurt', 'SIGKILL');
    expect(await expectRecovery(TIMEOUT_MS, async () => await all.invoke(get('name')))).toBe('Ada');
    await expect
      .poll(() => getOutcome(alone.invoke(put('name', 'Bob'))), { timeout: 30_000 })
      .toBe('UNAVAILABLE');
    await it.ensemble.restart('frankfurt');
    expect(await expectRecovery(TIMEOUT_MS, async () => await alone.invoke(get('name')))).toMatch(
      /Ada|Bob/,
    );
    await expectWorking(alone);
  },

  frozen: async () => {
    const alone = open(it.ensemble.address('frankfurt'));
    const all = open(it.ensemble.connectString('frankfurt'));
    for (const client of [alone, all]) await client.invoke(put('name', 'Ada'));
    it.ensemble.signal('frankfurt', 'SIGSTOP');
    ends.push(() => it.ensemble.signal('frankfurt', 'SIGCONT'));
    const frozenAtMs = performance.now();
    const write = getOutcome(alone.invoke(put('name', 'Bob')));
    expect(await expectRecovery(TIMEOUT_MS, async () => await all.invoke(get('name')))).toBe('Ada');
    expect(await write).toBe('UNKNOWN');
    while (performance.now() - frozenAtMs < FREEZE_MS)
      expect(await getOutcome(alone.invoke(get('name'), { timeoutMs: 2_000 }))).toMatch(
        /UNAVAILABLE|TIMEOUT/,
      );
    it.ensemble.signal('frankfurt', 'SIGCONT');
    await expectWorking(alone);
  },

  cut: async () => {
    const route = await openRoute();
    const client = open(route.address);
    expect(await expectKeptThroughSilence(client, () => route.cutSilently())).toBe('Ada');
    await expectWorking(client);
  },

  halfOpen: async () => {
    const route = await openRoute();
    const client = open(route.address);
    expect(await expectKeptThroughSilence(client, () => route.dropAnswers())).toBe('Bob');
    await expectWorking(client);
  },

  moved: async () => {
    const route = await openRoute();
    const client = open(route.address);
    await client.invoke(put('name', 'Ada'));
    route.target = it.ensemble.address('virginia');
    route.closeAll();
    expect(await expectRecovery(TIMEOUT_MS, async () => await client.invoke(get('name')))).toBe(
      'Ada',
    );
    await expectWorking(client);
  },

  crashed: async () => {
    const client = open(it.ensemble.connectString('frankfurt'));
    let acknowledged = -1;
    const outcomes = new Set<string>();
    const writing = (async () => {
      for (let n = 0; !outcomes.has('UNKNOWN'); n += 1) {
        const outcome = await getOutcome(client.invoke(put('count', n)));
        outcomes.add(outcome);
        if (outcome === 'done') acknowledged = n;
      }
    })();
    await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(20);
    for (const site of it.ensemble.sites) it.ensemble.signal(site, 'SIGKILL');
    await Promise.all([writing, ...it.ensemble.sites.map((site) => it.ensemble.restart(site))]);
    const count = await expectRecovery(TIMEOUT_MS, async () => await client.invoke(get('count')));
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    await expectWorking(client);
  },

  restored: async () => {
    const route = await openRoute();
    const warnings: unknown[] = [];
    const client = open(route.address, { onBackgroundError: (error) => warnings.push(error) });
    const session = client.session();
    for (let n = 0; n < 300; n += 1) await client.invoke(put('name', n), { session });
    const folder = join(runFolder('zookeeper'), `restored-${process.pid}`);
    const options = {
      nodes: 1,
      leader: 'ireland',
      wan: 'none',
      progress: () => {},
      folder,
    } as const;
    const other = await Ensemble.start(options);
    ends.push(() => other.stop());
    route.target = other.address('ireland');
    route.closeAll();
    await expectWorking(client);
    expect(warnings).toMatchObject([{ code: 'REPLICA_BEHIND' }]);
    expect(await getOutcome(client.invoke(get('name'), { session }))).toBe('REPLICA_BEHIND');
    expect(await client.invoke(get('name'), { session })).toBeUndefined();
    await client.invoke(put('name', 'Bob'), { session });
    expect(await client.invokeWeak(get('name'), { session })).toBe('Bob');
  },

  credentials: async () => {
    await using admin = new ZooKeeper(it.ensemble.address('frankfurt'));
    admin.addAuth('digest', 'ada:paper');
    const permit = (password: string): Acl[] => [
      {
        scheme: 'digest',
        id: digest('ada', password),
        permissions: ['read', 'write', 'create', 'delete', 'admin'],
      },
    ];
    await admin.create('/guarded', null, { acl: permit('paper') });
    await admin.create('/guarded/keys', null, { acl: permit('paper') });
    const options = { root: '/guarded', auth: { scheme: 'digest', secret: 'ada:paper' } };
    const client = open(it.ensemble.address('frankfurt'), options);
    await expectWorking(client);
    for (const [password, outcome] of [
      ['scissors', 'FORBIDDEN'],
      ['paper', 'done'],
    ] as const) {
      for (const path of ['/guarded/keys/works', '/guarded/keys'])
        await admin.delete(path).catch(() => {});
      await admin.create('/guarded/keys', null, { acl: permit(password) });
      expect(await getOutcome(client.invoke(put('works', 1)))).toBe(outcome);
    }
    await expectWorking(client);
  },

  connections: async () => {
    const address = it.ensemble.address('frankfurt');
    const before = open(address);
    await expectWorking(before);
    const [host, port] = address.split(':') as [string, string];
    const sockets: Socket[] = [];
    const closeAll = (): void => sockets.forEach((socket) => socket.destroy());
    ends.push(closeAll);
    for (let n = 0; n < 2 * MAX_CONNECTIONS; n += 1)
      sockets.push(
        connect(Number(port), host, () => {})
          .on('error', () => {})
          .resume(),
      );
    await expect
      .poll(() => sockets.every(({ connecting }) => !connecting), { timeout: 10_000 })
      .toBe(true);
    const after = open(address);
    await expect
      .poll(() => getOutcome(after.invoke(put('refused', 1))), { timeout: 30_000 })
      .toBe('UNAVAILABLE');
    await expectWorking(before);
    closeAll();
    await expectWorking(after);
  },

  space: async () => {
    const client = open(it.ensemble.address('frankfurt'), { root: '/limited' });
    await expectWorking(client);
    await using admin = new ZooKeeper(it.ensemble.address('frankfurt'));
    const quota = '/zookeeper/quota/limited';
    await admin.create(quota, null);
    await admin.create(
      `${quota}/zookeeper_limits`,
      'count=-1,bytes=-1=;byteHardLimit=1000=;countHardLimit=-1',
    );
    await admin.create(`${quota}/zookeeper_stats`, 'count=1,bytes=100');
    await expect(client.invoke(put('large', 'x'.repeat(2_000)))).rejects.toMatchObject({
      code: 'OVERLOADED',
    });
    expect(await client.invoke(get('works'))).toBe(1);
    for (const name of ['zookeeper_limits', 'zookeeper_stats'])
      await admin.delete(`${quota}/${name}`);
    await admin.delete(quota);
    await expectRecovery(
      TIMEOUT_MS,
      async () => await client.invoke(put('large', 'x'.repeat(2_000))),
    );
  },

  readOnly: async () => {
    const client = open(it.ensemble.address('frankfurt'));
    await client.invoke(put('name', 'Ada'));
    const others = it.ensemble.sites.filter((site) => site !== 'frankfurt');
    for (const site of others) it.ensemble.signal(site, 'SIGKILL');
    await expect
      .poll(() => getOutcome(client.invoke(put('name', 'Bob'))), { timeout: 30_000 })
      .toBe('UNAVAILABLE');
    await Promise.all(others.map((site) => it.ensemble.restart(site)));
    expect(await expectRecovery(TIMEOUT_MS, async () => await client.invoke(get('name')))).toMatch(
      /Ada|Bob/,
    );
    await expectWorking(client);
  },

  foreignValue: async () => {
    const client = open(it.ensemble.address('frankfurt'), { root: '/foreign' });
    await expectWorking(client);
    await using other = new ZooKeeper(it.ensemble.address('frankfurt'));
    await other.create('/foreign/keys/bad', 'no JSON');
    await expect(client.invoke(get('bad'))).rejects.toMatchObject(unreadable('bad'));
    await expectWorking(client);
    await client.invoke(put('bad', 1));
    expect(await client.invoke(get('bad'))).toBe(1);
  },

  callerLeaves: async () => {
    const client = open(it.ensemble.connectString('frankfurt'));
    const count = 30;
    for (let n = 0; n < count; n += 1) await client.invoke(enqueue('concert', n));
    const taken: unknown[] = [];
    for (let n = 0; n < count; n += 1) {
      const signal = AbortSignal.timeout(n % 10);
      const outcome: unknown = await Promise.resolve(
        client.invoke(dequeue<number>('concert'), { signal }),
      ).then(
        (found) => found?.item,
        (error: unknown) => (error as CorrectableError).code,
      );
      if (typeof outcome === 'number') taken.push(outcome);
      else expect(['ABORTED', 'UNKNOWN']).toContain(outcome);
    }
    for (;;) {
      const found = await expectRecovery(
        TIMEOUT_MS,
        async () => await client.invoke(dequeue<number>('concert')),
      );
      if (found === null) break;
      taken.push(found.item);
    }
    expect(new Set(taken).size).toBe(taken.length);
    // An item whose caller has left after it was claimed is that caller's.
    await expectWorking(client);
  },
});
