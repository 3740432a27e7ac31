/**
 * The ZooKeeper client on a real ensemble: every operation, and each fault that other clients are
 * known for.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CREATOR_ALL_ACL,
  isZooKeeperError,
  ZooKeeper,
  type SessionEvent,
  type WatchEvent,
} from '../../../src/bindings/zookeeper/index.ts';
import { SITES } from '../../../engines/wan.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const SESSION_MS = 4_000;
/** 20 ticks, the longest that the server grants. */
const LONGEST_SESSION_MS = 40_000;
const cluster = withEnsemble();
let tests = 0;

/** A client in a subtree of its own. */
async function connect(
  options: ConstructorParameters<typeof ZooKeeper>[1] = {},
): Promise<ZooKeeper> {
  tests += 1;
  const servers = cluster.ensemble.connectString('frankfurt');
  await using maker = new ZooKeeper(servers);
  await maker.create(`/t${tests}`, null);
  const zk = new ZooKeeper(`${servers}/t${tests}`, { sessionTimeoutMs: SESSION_MS, ...options });
  await zk.sync();
  return zk;
}

function eventOf<T extends SessionEvent['type']>(
  zk: ZooKeeper,
  type: T,
): Promise<SessionEvent & { type: T }> {
  return new Promise((resolve) => {
    const stop = zk.onSession((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event as SessionEvent & { type: T });
    });
  });
}

describe('operations', () => {
  let zk: ZooKeeper;
  beforeAll(async () => {
    zk = await connect();
    return () => zk.close();
  });

  test('create, get, set, exists, delete: a node through its life', async () => {
    expect(await zk.create('/a', 'one')).toBe('/a');
    const { data, stat } = await zk.get('/a');
    expect([new TextDecoder().decode(data as Uint8Array), stat.version, stat.dataLength]).toEqual([
      'one',
      0,
      3,
    ]);
    expect((await zk.set('/a', 'two', { version: 0 })).version).toBe(1);
    expect((await zk.exists('/a'))?.version).toBe(1);
    await zk.delete('/a', { version: 1 });
    expect(await zk.exists('/a')).toBeNull();
  });

  test('data: null and empty → stay different', async () => {
    await zk.create('/null', null);
    await zk.create('/empty', '');
    expect((await zk.get('/null')).data).toBeNull();
    expect((await zk.get('/empty')).data).toEqual(new Uint8Array(0));
  });

  test('children: names and the number of the next sequential one', async () => {
    await zk.create('/parent', null);
    for (let n = 0; n < 3; n += 1)
      await zk.create('/parent/-', null, { mode: 'persistent-sequential' });
    await zk.delete('/parent/-0000000001');
    const { children, stat } = await zk.children('/parent');
    expect(children.toSorted()).toEqual(['-0000000000', '-0000000002']);
    expect((stat.cversion + stat.numChildren) / 2).toBe(3);
  });

  test('create: a container → its path', async () => {
    expect(await zk.create('/container', null, { mode: 'container' })).toBe('/container');
  });

  test('multi: all parts or none, the failing part named', async () => {
    const results = await zk.multi([
      { type: 'create', path: '/m', data: 'x' },
      { type: 'set', path: '/m', data: 'y', version: 0 },
      { type: 'check', path: '/m', version: 1 },
      { type: 'create', path: '/m/-', mode: 'persistent-sequential' },
    ]);
    expect(results.map(({ type }) => type)).toEqual(['create', 'set', 'check', 'create']);
    expect(results[3]).toMatchObject({ path: '/m/-0000000000' });
    const failing = zk.multi([
      { type: 'create', path: '/m/other' },
      { type: 'delete', path: '/m/nothing' },
    ]);
    await expect(failing).rejects.toMatchObject({ code: 'NO_NODE', part: 1, path: '/m/nothing' });
    expect(await zk.exists('/m/other')).toBeNull();
  });

  test('multi: version 0 → is version 0, not any version', async () => {
    await zk.create('/v', 'x');
    await zk.set('/v', 'y');
    for (const part of [
      { type: 'check', path: '/v', version: 0 },
      { type: 'set', path: '/v', data: 'z', version: 0 },
      { type: 'delete', path: '/v', version: 0 },
    ] as const) {
      await expect(zk.multi([part])).rejects.toMatchObject({ code: 'BAD_VERSION' });
    }
    expect((await zk.get('/v')).stat.version).toBe(1);
  });

  test('errors: code, path as the application gave it, and a hint', async () => {
    await expect(zk.get('/nothing')).rejects.toMatchObject({
      code: 'NO_NODE',
      path: '/nothing',
      hint: /create it/,
    });
    await zk.create('/there', null);
    await expect(zk.create('/there', null)).rejects.toMatchObject({ code: 'NODE_EXISTS' });
    await zk.create('/there/below', null);
    await expect(zk.delete('/there')).rejects.toMatchObject({ code: 'NOT_EMPTY' });
    await zk.create('/ephemeral', null, { mode: 'ephemeral' });
    await expect(zk.create('/ephemeral/a', null)).rejects.toMatchObject({
      code: 'NO_CHILDREN_FOR_EPHEMERALS',
    });
  });

  test('pipelining: thousands of requests in one tick → all answered, in order', async () => {
    await zk.create('/order', null);
    const count = 3_000;
    const paths = await Promise.all(
      Array.from({ length: count }, () =>
        zk.create('/order/-', null, { mode: 'persistent-sequential' }),
      ),
    );
    expect(paths).toEqual(
      Array.from({ length: count }, (_, n) => `/order/-${String(n).padStart(10, '0')}`),
    );
  });

  test('bytes: counted in both directions', async () => {
    // With a session this long, no ping of the client's (20 bytes back) falls into the count.
    await using calm = await connect({ sessionTimeoutMs: LONGEST_SESSION_MS });
    const before = calm.bytes;
    await calm.exists('/');
    expect(calm.bytes.sent - before.sent).toBe(4 + 8 + 4 + `/t${tests}`.length + 1);
    expect(calm.bytes.received - before.received).toBe(4 + 16 + 68);
  });
});

describe('ACLs', () => {
  test('digest: a client with the password has access, others have none', async () => {
    await using owner = await connect();
    owner.addAuth('digest', 'ada:secret');
    await owner.create('/mine', 'x', { acl: CREATOR_ALL_ACL });
    expect((await owner.getAcl('/mine')).acl).toMatchObject([
      { scheme: 'digest', permissions: 'all' },
    ]);
    await using other = new ZooKeeper(`${cluster.ensemble.connectString('virginia')}/t${tests}`);
    await other.sync();
    await expect(other.get('/mine')).rejects.toMatchObject({ code: 'NO_AUTH', path: '/mine' });
    other.addAuth('digest', 'ada:secret');
    expect((await other.get('/mine')).stat.version).toBe(0);
    other.dropConnection();
    expect((await other.get('/mine')).stat.version).toBe(0);
    await owner.create('/read', 'x', {
      acl: [{ scheme: 'world', id: 'anyone', permissions: ['read'] }],
    });
    await expect(owner.set('/read', 'y')).rejects.toMatchObject({ code: 'NO_AUTH' });
  });
});

describe('watches', () => {
  test('once: data, existence, children → each fires once', async () => {
    await using zk = await connect();
    const seen: string[] = [];
    const watch = (event: WatchEvent): void => void seen.push(`${event.type} ${event.path}`);
    await zk.exists('/w', { watch });
    await zk.create('/w', null);
    await zk.get('/w', { watch });
    await zk.set('/w', '1');
    await zk.set('/w', '2');
    await zk.children('/w', { watch });
    await zk.create('/w/child', null);
    await zk.sync();
    expect(seen).toEqual(['created /w', 'data-changed /w', 'children-changed /w']);
  });

  test('persistent and recursive: every change → reported, until removed', async () => {
    await using zk = await connect();
    await zk.create('/p', null);
    const flat: string[] = [];
    const deep: string[] = [];
    const stopFlat = await zk.watch('/p', ({ type, path }) => flat.push(`${type} ${path}`));
    await zk.watch('/', ({ type, path }) => deep.push(`${type} ${path}`), { isRecursive: true });
    await zk.create('/p/a', null);
    await zk.set('/p', '1');
    await stopFlat();
    await zk.set('/p', '2');
    await zk.sync();
    expect(flat).toEqual(['children-changed /p', 'data-changed /p']);
    expect(deep).toEqual(['created /p/a', 'data-changed /p', 'data-changed /p']);
  });

  test('after a lost connection: all kinds → missed events are reported, and later ones too', async () => {
    await using zk = await connect();
    await using other = new ZooKeeper(`${cluster.ensemble.connectString('virginia')}/t${tests}`);
    await zk.create('/r', null);
    const once: string[] = [];
    const always: string[] = [];
    await zk.get('/r', { watch: ({ type }) => once.push(type) });
    await zk.watch('/r', ({ type }) => always.push(type));
    zk.dropConnection();
    await other.set('/r', 'missed');
    await zk.sync();
    await other.set('/r', 'heard');
    await zk.sync();
    await zk.get('/r');
    expect(once).toEqual(['data-changed']);
    expect(always.at(-1)).toBe('data-changed');
    expect(always.length).toBeGreaterThanOrEqual(1);
  });
});

describe('connections', () => {
  test('a cut connection: requests in flight → fail with CONNECTION_LOSS; the session goes on', async () => {
    await using zk = await connect();
    await zk.create('/e', null, { mode: 'ephemeral' });
    const id = zk.sessionId;
    const lost = zk.set('/e', '1').catch((error: unknown) => error);
    const lostRead = zk.get('/e').catch((error: unknown) => error);
    await Promise.resolve();
    zk.dropConnection();
    expect(await lost).toMatchObject({
      code: 'CONNECTION_LOSS',
      path: '/e',
      mayHaveTakenEffect: true,
    });
    expect(await lostRead).toMatchObject({ code: 'CONNECTION_LOSS', mayHaveTakenEffect: false });
    expect((await zk.exists('/e'))?.ephemeralOwner).toBe(id);
    expect(zk.sessionId).toBe(id);
  });

  test('a frozen server: silent, its socket open → noticed in the time of the session, which survives', async () => {
    await using zk = await connect();
    await zk.create('/frozen', null, { mode: 'ephemeral' });
    const at = SITES.find((site) => cluster.ensemble.address(site) === zk.server);
    if (at === undefined) throw new Error(`no site has ${zk.server}`);
    const id = zk.sessionId;
    cluster.ensemble.signal(at, 'SIGSTOP');
    try {
      const { reason } = await eventOf(zk, 'disconnected');
      expect(reason.hint).toMatch(/silent/);
      expect((await zk.exists('/frozen'))?.ephemeralOwner).toBe(id);
      expect(zk.server).not.toBe(cluster.ensemble.address(at));
    } finally {
      cluster.ensemble.signal(at, 'SIGCONT');
    }
  });

  test('expiry: the ensemble gives the session up → an event, requests refused, ephemeral nodes gone', async () => {
    const zk = await connect();
    await zk.create('/gone', null, { mode: 'ephemeral' });
    const { credentials } = zk;
    const expired = eventOf(zk, 'expired');
    const taker = new ZooKeeper(
      cluster.ensemble.connectString('virginia'),
      credentials === undefined ? {} : { credentials },
    );
    await taker.whenConnected();
    await taker.close();
    await expired;
    expect(zk.state).toBe('expired');
    await expect(zk.exists('/gone')).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    await using next = new ZooKeeper(`${cluster.ensemble.connectString('frankfurt')}/t${tests}`);
    await next.sync();
    expect(await next.exists('/gone')).toBeNull();
  });

  test('close: ends the session at once, ephemeral nodes with it', async () => {
    const zk = await connect();
    void zk.create('/short', null, { mode: 'ephemeral' });
    await zk.close();
    await using next = new ZooKeeper(`${cluster.ensemble.connectString('frankfurt')}/t${tests}`);
    await next.sync();
    expect(await next.exists('/short')).toBeNull();
    await expect(zk.exists('/')).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
  });

  test('a server of choice: preferred → moved to, session and ephemeral nodes kept', async () => {
    await using zk = await connect();
    await zk.create('/moved', null, { mode: 'ephemeral' });
    const target = cluster.ensemble.address('virginia');
    // A server that is behind what a client has seen refuses it, and it goes to another one.
    await using there = new ZooKeeper(`${cluster.ensemble.connectString('virginia')}/t${tests}`);
    await there.sync();
    zk.preferServer(target);
    await zk.sync();
    expect(zk.server).toBe(target);
    expect((await zk.exists('/moved'))?.ephemeralOwner).toBe(zk.sessionId);
  });

  test('a leader killed: requests wait for the next leader, nothing acknowledged is lost', async () => {
    await using zk = await connect({ sessionTimeoutMs: 12_000 });
    const leader = await cluster.ensemble.leader();
    if (leader === undefined) throw new Error('no leader');
    await zk.create('/kept', 'x');
    cluster.ensemble.signal(leader, 'SIGKILL');
    for (let isMade = false; !isMade;) {
      isMade = await zk.create('/after', null).then(
        () => true,
        (error: unknown) => isZooKeeperError(error, 'NODE_EXISTS'),
      );
    }
    expect((await zk.get('/kept')).stat.version).toBe(0);
    await cluster.ensemble.restart(leader);
  });
});
