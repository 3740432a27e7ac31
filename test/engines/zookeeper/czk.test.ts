/**
 * Servers with preliminary replies: the client detects them, every part of the ensemble keeps the
 * rules, and plain clients work.
 */
import { describe, expect, test } from 'vitest';
import { SITES, type Site } from '../../../engines/wan.ts';
import {
  CREATOR_ALL_ACL,
  ZooKeeper,
  zookeeper,
  type Acl,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient, type Client } from '../../../src/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const COUNT = 30;
const SEQUENTIAL = { mode: 'persistent-sequential' } as const;

/** Creates nodes in one tick. Returns their preliminary names, and their final ones. */
async function race(
  zk: ZooKeeper,
  parent: string,
): Promise<{ readonly early: string[]; readonly made: string[] }> {
  const early: string[] = [];
  const onPreliminary = (path: string): void => void early.push(path);
  const creates = Array.from({ length: COUNT }, () =>
    zk.create(`${parent}/-`, 'x', { ...SEQUENTIAL, onPreliminary }),
  );
  return { early, made: await Promise.all(creates) };
}

describe('with preliminary replies', () => {
  const cluster = withEnsemble({ czk: true, wan: 'paper' });

  test.each(SITES)(
    'a client of %s: overlapping creates → the right name of each, before the ensemble agreed',
    async (site) => {
      await using zk = new ZooKeeper(cluster.ensemble.address(site));
      await zk.create(`/${site}`, null);
      const { early, made } = await race(zk, `/${site}`);
      expect(early).toEqual(made);
    },
  );

  test('several clients of one server: each counts the others → the right names', async () => {
    const address = cluster.ensemble.address('frankfurt');
    const clients = Array.from({ length: 4 }, () => new ZooKeeper(address));
    await clients[0]?.create('/shared', null);
    await Promise.all(clients.map((zk) => zk.sync()));
    const races = await Promise.all(clients.map((zk) => race(zk, '/shared')));
    const hits = races.flatMap(({ early, made }) =>
      made.filter((path, n) => path === early[n]),
    ).length;
    expect(hits).toBeGreaterThan(0.5 * clients.length * COUNT);
    await Promise.all(clients.map((zk) => zk.close()));
  });

  test('ACL: a user who may not create, or not read the parent → no preliminary reply', async () => {
    await using owner = new ZooKeeper(cluster.ensemble.address('frankfurt'));
    owner.addAuth('digest', 'ada:secret');
    const createOnly: readonly Acl[] = [
      ...CREATOR_ALL_ACL,
      { scheme: 'world', id: 'anyone', permissions: ['create'] },
    ];
    await owner.create('/private', null, { acl: CREATOR_ALL_ACL });
    await owner.create('/letterbox', null, { acl: createOnly });
    await using other = new ZooKeeper(cluster.ensemble.address('frankfurt'));
    await other.sync();
    const early: string[] = [];
    const onPreliminary = (path: string): void => void early.push(path);
    await expect(
      other.create('/private/-', null, { ...SEQUENTIAL, onPreliminary }),
    ).rejects.toMatchObject({
      code: 'NO_AUTH',
    });
    expect(await other.create('/letterbox/-', null, { ...SEQUENTIAL, onPreliminary })).toMatch(
      /-0000000000$/,
    );
    expect(early).toEqual([]);
    expect((await race(owner, '/private')).early).toHaveLength(COUNT);
  });

  test('refused and lost creates: nothing stays counted → the next name is right', async () => {
    const address = cluster.ensemble.address('frankfurt');
    await using owner = new ZooKeeper(address);
    await owner.create('/counted', null);
    for (let n = 0; n < 5; n += 1) {
      const dying = new ZooKeeper(address);
      await dying.whenConnected();
      const lost = Array.from({ length: 10 }, () =>
        dying.create('/counted/-', null, SEQUENTIAL).catch(() => undefined),
      );
      await Promise.resolve();
      dying.dropConnection();
      await Promise.all(lost);
      await dying.close();
    }
    await owner.sync();
    const { early, made } = await race(owner, '/counted');
    expect(early).toEqual(made);
  });

  test('binding: used without an option → fewer bytes, the same queue', async () => {
    expect(
      await bytesPerOperation('frankfurt', cluster.ensemble.address('frankfurt')),
    ).toBeLessThan(620);
  });

  test('binding: preliminary views of a queue → the items in order, guessed right', async () => {
    const client = createClient(
      zookeeper({ servers: cluster.ensemble.address('frankfurt'), root: '/order' }),
    );
    await Promise.all(Array.from({ length: COUNT }, (_, n) => client.invoke(enqueue('q', n))));
    const found = await Promise.all(Array.from({ length: COUNT }, () => views(client)));
    expect(found.map((item) => item.at(-1))).toEqual(
      Array.from({ length: COUNT }, (_, item) => ({ item })),
    );
    expect(
      found.filter(([early, final]) => JSON.stringify(early) === JSON.stringify(final)).length,
    ).toBe(COUNT);
    await client.close();
  });

  test('a leader killed → the others take over, replies and all', async () => {
    await using zk = new ZooKeeper(cluster.ensemble.connectString('frankfurt'));
    await zk.create('/after', null);
    const leader = (await cluster.ensemble.leader()) as Site;
    cluster.ensemble.signal(leader, 'SIGKILL');
    while (
      (await zk.sync().catch(() => 'lost')) === 'lost' ||
      (await cluster.ensemble.leader()) === undefined
    );
    await zk.create('/after/-', null, SEQUENTIAL).catch(() => undefined);
    const { early, made } = await race(zk, '/after');
    expect(early).toEqual(made);
    await cluster.ensemble.restart(leader);
  });
});

describe('with preliminary replies and an observer', () => {
  const cluster = withEnsemble({ czk: true, wan: 'paper', observer: 'frankfurt' });

  test('a client of the observer: overlapping creates → the right name of each, before the ensemble agreed', async () => {
    expect((await cluster.ensemble.modes()).frankfurt).toBe('observer');
    await using zk = new ZooKeeper(cluster.ensemble.address('frankfurt'));
    await zk.create('/observed', null);
    const { early, made } = await race(zk, '/observed');
    expect(early).toEqual(made);
  });

  test('a follower killed → the observer does not vote: creates wait; with it back they are made', async () => {
    await using zk = new ZooKeeper(cluster.ensemble.address('frankfurt'));
    await zk.create('/waiting', null);
    cluster.ensemble.signal('virginia', 'SIGKILL');
    while ((await cluster.ensemble.leader()) !== undefined);
    await cluster.ensemble.restart('virginia');
    while ((await zk.create('/waiting/again', null).catch(() => 'not yet')) === 'not yet');
    expect((await race(zk, '/waiting')).made).toHaveLength(COUNT);
  });
});

describe('without', () => {
  const cluster = withEnsemble({ nodes: 1 });

  test('an unmodified server: asked for preliminary replies → none, and no harm', async () => {
    await using zk = new ZooKeeper(cluster.ensemble.address('ireland'));
    await zk.create('/plain', null);
    const { early, made } = await race(zk, '/plain');
    expect(early).toEqual([]);
    expect(made).toHaveLength(COUNT);
  });
});

async function views(client: Client<readonly ['weak', 'strong']>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { value } of client.invoke(dequeue('q'))) values.push(value);
  return values;
}

/** Bytes of an enqueue and a dequeue, once the binding knows its server. */
async function bytesPerOperation(name: string, servers: string): Promise<number> {
  const binding = zookeeper({ servers, root: `/bytes-${name}` });
  const client = createClient(binding);
  for (let n = 0; n < 3; n += 1) await client.invoke(enqueue('q', n));
  await client.invoke(dequeue('q'));
  const before = binding.bytes.sent + binding.bytes.received;
  for (let n = 0; n < COUNT; n += 1) {
    await client.invoke(enqueue('q', n));
    await client.invoke(dequeue('q'));
  }
  const bytes = binding.bytes.sent + binding.bytes.received - before;
  await client.close();
  return bytes / (2 * COUNT);
}
