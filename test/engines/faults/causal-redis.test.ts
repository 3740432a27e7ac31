/** The faults of the causal store on Redis, on real servers. Each client has a timeout of 6 s. */
import { Command } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import {
  causalRedis as bind,
  createCausalDeployment,
  type CausalRedisAlarm,
  type RedisNodes,
} from '../../../src/bindings/causal-redis/index.ts';
import { createClient } from '../../../src/index.ts';
import { get, getMany, put } from '../../../src/operations/index.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { causalRedis } from './columns/causal-redis.ts';
import { DURABLE, FaultyRedis } from './support/faulty-redis.ts';
import { BAD_CERTIFICATES, TlsRedis } from './support/tls-redis.ts';
import { describeFaults, expectRecovery, getOutcome } from './support/matrix.ts';

const TIMEOUT_MS = 6_000;
const FREEZE_MS = process.env['ENGINES_SHORT'] === '1' ? 5_000 : 30_000;
const PARTITIONS = 4;

type Sites = Readonly<Record<string, RedisNodes>>;

const nodes = ({ address }: { readonly address: string }): RedisNodes => ({ nodes: [address] });

async function prepare(sites: Sites): Promise<void> {
  for (const site of Object.keys(sites))
    await createCausalDeployment({ name: 'shop', site, sites, partitions: PARTITIONS });
}

/** A process at the first site, or at `site`. */
function open(sites: Sites, site = Object.keys(sites)[0] as string) {
  const alarms: CausalRedisAlarm[] = [];
  const onAlarm = (alarm: CausalRedisAlarm): void => void alarms.push(alarm);
  const store = createClient(bind({ name: 'shop', site, sites, siteTimeoutMs: 3_000, onAlarm }), {
    timeoutMs: TIMEOUT_MS,
  });
  onTestFinished(() => store.close());
  return { alarms, store };
}

/** One site with one server, and a process that has written. */
async function openOne(args: readonly string[] = []) {
  const server = await FaultyRedis.open(args);
  const route = await SilentRoute.open(server.address);
  onTestFinished(() => route[Symbol.asyncDispose]());
  const sites = { dublin: nodes(route) };
  await prepare(sites);
  const { alarms, store } = open(sites);
  await store.invoke(put('name', 'Ada'));
  return { alarms, route, server, sites, store };
}

/** Repeats an operation until it succeeds. */
function recover<T>(run: () => PromiseLike<T>): Promise<T> {
  return expectRecovery(TIMEOUT_MS, async () => await run());
}

async function changeCertificates(): Promise<void> {
  const redis = await TlsRedis.open();
  const redisOptions = { tls: { ca: redis.ca } };
  const sites = { dublin: { ...nodes(redis), redisOptions } };
  await prepare(sites);
  const { alarms, store } = open(sites);
  await store.invoke(put('name', 'Ada'));
  for (const [kind, words] of BAD_CERTIFICATES) {
    await redis.show(kind);
    // Open connections go on.
    await store.invoke(put('name', kind));
    await redis.closeAll();
    const refused = {
      code: 'UNAVAILABLE',
      retryable: false,
      message: expect.stringMatching(words) as unknown,
    };
    await expect
      .poll(() => getOutcome(store.invokeWeak(get('name'))), { timeout: TIMEOUT_MS })
      .toMatchObject(refused);
    expect(await getOutcome(store.invoke(put('name', 'Bob')))).toMatchObject(refused);
    expect(await getOutcome(open(sites).store.invokeWeak(get('name')))).toMatchObject(refused);
    await expect
      .poll(() => alarms.splice(0), { timeout: TIMEOUT_MS })
      .toContainEqual(
        expect.objectContaining({
          code: 'access-refused',
          message: expect.stringMatching(words) as unknown,
        }),
      );
    await redis.show('good');
    expect(await recover(() => store.invokeWeak(get('name')))).toBe(kind);
    await recover(() => store.invoke(put('name', 'Cleo')));
  }
}

describeFaults(causalRedis, {
  killed: async () => {
    const { server, store } = await openOne(DURABLE);
    await server.kill();
    expect(await getOutcome(store.invokeWeak(get('name')))).toMatchObject({ code: 'UNAVAILABLE' });
    await server.start();
    expect(await recover(() => store.invokeWeak(get('name')))).toBe('Ada');
    await recover(() => store.invoke(put('name', 'Bob')));
  },

  frozen: async () => {
    const { server, store } = await openOne();
    server.signal('SIGSTOP');
    const frozenAtMs = performance.now();
    while (performance.now() - frozenAtMs < FREEZE_MS)
      expect((await getOutcome(store.invokeWeak(get('name')))).code).toMatch(
        /^(UNAVAILABLE|TIMEOUT)$/,
      );
    server.signal('SIGCONT');
    expect(await recover(() => store.invokeWeak(get('name')))).toBe('Ada');
    await recover(() => store.invoke(put('name', 'Bob')));
  },

  cut: async () => {
    const { route, store } = await openOne();
    route.cutSilently();
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await store.invokeWeak(get('name'))).toBe('Bob');
  },

  halfOpen: async () => {
    const { route, store } = await openOne();
    route.dropAnswers();
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await store.invokeWeak(get('name'))).toBe('Bob');
  },

  demoted: async () => {
    const { server, store } = await openOne();
    const other = await FaultyRedis.open();
    await server.ask('REPLICAOF', '127.0.0.1', other.port);
    const write = getOutcome(store.invoke(put('name', 'Bob')));
    expect((await getOutcome(store.invokeWeak(get('name')))).code).toBe('UNAVAILABLE');
    expect(await write).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('not executed'),
    });
    await server.promote();
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  promoted: async () => {
    const { alarms, route, server, store } = await openOne();
    const next = await FaultyRedis.open();
    await next.follow(server);
    await next.promote(); // The old one still runs.
    route.target = next.address;
    route.closeAll();
    await recover(() => store.invoke(put('name', 'Bob')));
    route.target = server.address;
    route.closeAll();
    await expect
      .poll(() => alarms.map(({ code }) => code), { timeout: TIMEOUT_MS })
      .toContain('lost-writes');
    route.target = next.address;
    route.closeAll();
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  moved: async () => {
    const { route, server, store } = await openOne();
    const next = await FaultyRedis.open();
    await next.follow(server);
    await next.promote();
    await server.ask('REPLICAOF', '127.0.0.1', next.port);
    route.target = next.address; // Connections that are open stay where they are.
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await store.invokeWeak(get('name'))).toBe('Bob');
  },

  crashed: async () => {
    const { server, store } = await openOne(DURABLE);
    const acknowledged: number[] = [];
    const writes = Array.from({ length: 100 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, n % 20));
      const { code } = await getOutcome(store.invoke(put(`key:${n}`, n)));
      if (code === 'done') acknowledged.push(n);
    });
    await Promise.race(writes);
    await server.kill();
    await server.start();
    await Promise.all(writes);
    const keys = acknowledged.map((n) => `key:${n}`);
    expect(keys.length).toBeGreaterThan(0);
    expect(await recover(() => store.invokeWeak(getMany(keys)))).toEqual(acknowledged);
  },

  restored: async () => {
    const [dublin, oregon] = [await FaultyRedis.open(), await FaultyRedis.open()];
    const sites = { dublin: nodes(dublin), oregon: nodes(oregon) };
    await prepare(sites);
    const { store } = open(sites);
    const { store: other } = open(sites, 'oregon');
    await store.invoke(put('name', 'Ada'));
    await expect.poll(() => other.invokeWeak(get('name')), { timeout: TIMEOUT_MS }).toBe('Ada');
    await dublin.kill();
    await dublin.start(); // It has kept nothing.
    expect(await recover(() => store.invokeWeak(get('name')))).toBe('Ada');
  },

  credentials: async () => {
    const { route, server, sites } = await openOne();
    await server.ask('ACL', 'SETUSER', 'shop', 'on', '>old', '~*', '+@all');
    let password = 'old';
    const redisOptions = {
      username: 'shop',
      get password() {
        return password;
      },
    };
    const { alarms, store } = open({ dublin: { nodes: [route.address], redisOptions } });
    await store.invoke(put('name', 'Bob'));
    await server.ask('ACL', 'SETUSER', 'shop', 'resetpass', '>new');
    await server.ask('CLIENT', 'KILL', 'USER', 'shop');
    await expect
      .poll(() => getOutcome(store.invokeWeak(get('name'))), { timeout: TIMEOUT_MS })
      .toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining('WRONGPASS') });
    await expect
      .poll(() => alarms.map(({ code }) => code), { timeout: TIMEOUT_MS })
      .toContain('access-refused');
    expect(
      (
        await getOutcome(
          open({ dublin: { ...sites.dublin, redisOptions } }).store.invokeWeak(get('name')),
        )
      ).code,
    ).toBe('UNAUTHENTICATED');
    password = 'new';
    await recover(() => store.invoke(put('name', 'Cleo')));
    await server.ask('ACL', 'SETUSER', 'shop', '-evalsha');
    expect((await getOutcome(store.invokeWeak(get('name')))).code).toBe('FORBIDDEN');
    await server.ask('ACL', 'SETUSER', 'shop', '+evalsha');
    expect(await recover(() => store.invokeWeak(get('name')))).toBe('Cleo');
    await changeCertificates();
  },

  connections: async () => {
    const { server, sites, store } = await openOne();
    await server.ask('CONFIG', 'SET', 'maxclients', 8);
    const empty = await server.fill();
    onTestFinished(empty);
    const { store: other } = open(sites);
    expect((await getOutcome(other.invoke(put('name', 'Bob')))).code).toMatch(
      /^(OVERLOADED|UNAVAILABLE)$/,
    );
    await store.invoke(put('name', 'Cleo'));
    empty();
    await recover(() => other.invoke(put('name', 'Dan')));
  },

  space: async () => {
    const { server, store } = await openOne();
    await server.ask('CONFIG', 'SET', 'maxmemory', '1');
    expect(await getOutcome(store.invoke(put('name', 'Bob')))).toMatchObject({
      code: 'OVERLOADED',
    });
    expect(await store.invokeWeak(get('name'))).toBe('Ada');
    await server.ask('CONFIG', 'SET', 'maxmemory', '0');
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  readOnly: async () => {
    const { server, store } = await openOne();
    await server.ask('CONFIG', 'SET', 'min-replicas-to-write', 1);
    expect(await getOutcome(store.invoke(put('name', 'Bob')))).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('NOREPLICAS'),
    });
    await server.ask('CONFIG', 'SET', 'min-replicas-to-write', 0);
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  foreignValue: async () => {
    const [dublin, oregon] = [await FaultyRedis.open(), await FaultyRedis.open()];
    const sites = { dublin: nodes(dublin), oregon: nodes(oregon) };
    await prepare(sites);
    const { store } = open(sites);
    const { store: other } = open(sites, 'oregon');
    const keys = Array.from({ length: 16 }, (_, n) => `key:${n}`);
    await Promise.all(keys.map((key, n) => store.invoke(put(key, n))));
    await expect.poll(() => other.invokeWeak(get('key:15')), { timeout: TIMEOUT_MS }).toBe(15);
    await dublin.ask('SET', '{shop:0}', 'of another program');
    const outcomes = await Promise.all(keys.map((key) => getOutcome(store.invokeWeak(get(key)))));
    const codes = outcomes.map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['done', 'INVALID_VALUE']));
    expect(outcomes.find(({ code }) => code === 'INVALID_VALUE')?.message).toContain('{shop:0}');
    await dublin.ask('DEL', '{shop:0}');
    const key = keys[codes.indexOf('INVALID_VALUE')] as string;
    expect(await recover(() => store.invokeWeak(get(key)))).toBe(Number(key.split(':')[1]));
  },

  parsers: async () => {
    const { sites } = await openOne();
    const names = ['evalsha', 'eval', 'info', 'hgetall'] as const;
    const { reply } = (Command as unknown as { _transformer: { reply: Record<string, unknown> } })
      ._transformer;
    const before = { ...reply };
    for (const name of names) Command.setReplyTransformer(name, () => 'of another library');
    onTestFinished(() => {
      for (const name of names) Reflect.deleteProperty(reply, name);
      Object.assign(reply, before);
    });
    const { store } = open(sites);
    await store.invoke(put('name', 'Bob'));
    expect(await store.invokeWeak(get('name'))).toBe('Bob');
  },

  callerLeaves: async () => {
    const { server, store } = await openOne();
    const early = AbortSignal.abort();
    expect((await getOutcome(store.invoke(put('none', 1), { signal: early }))).code).toBe(
      'ABORTED',
    );
    server.signal('SIGSTOP');
    const leaving = new AbortController();
    const write = getOutcome(store.invoke(put('late', 1), { signal: leaving.signal }));
    const read = getOutcome(store.invokeWeak(get('name'), { signal: leaving.signal }));
    leaving.abort();
    expect((await read).code).toBe('ABORTED');
    expect((await write).code).toMatch(/^(ABORTED|UNKNOWN)$/);
    server.signal('SIGCONT');
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await store.invokeWeak(get('none'))).toBeUndefined();
  },
});
