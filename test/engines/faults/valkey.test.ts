/** The faults of Valkey and Redis, on real servers. Each client has a timeout of 5 s. */
import { Command } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import {
  valkey as bind,
  type ReplicasAlarm,
  type ValkeyOptions,
} from '../../../src/bindings/valkey/index.ts';
import { createClient } from '../../../src/index.ts';
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { valkey } from './columns/valkey.ts';
import { DURABLE, FaultyRedis } from './support/faulty-redis.ts';
import { BAD_CERTIFICATES, TlsRedis } from './support/tls-redis.ts';
import { describeFaults, expectRecovery, getOutcome, unreadable } from './support/matrix.ts';

const TIMEOUT_MS = 5_000;
const FREEZE_MS = process.env['ENGINES_SHORT'] === '1' ? 5_000 : 30_000;

function open(primary: { readonly address: string }, options: Partial<ValkeyOptions> = {}) {
  const alarms: ReplicasAlarm[] = [];
  const onAlarm = (alarm: ReplicasAlarm): void => void alarms.push(alarm);
  const binding = bind({
    primary: primary.address,
    tokenKey: 'a secret of 16 bytes',
    onAlarm,
    ...options,
  });
  const store = createClient(binding, { timeoutMs: TIMEOUT_MS });
  onTestFinished(() => store.close());
  return { alarms, binding, store };
}

async function openRoute({ address }: FaultyRedis): Promise<SilentRoute> {
  const route = await SilentRoute.open(address);
  onTestFinished(() => route[Symbol.asyncDispose]());
  return route;
}

/** A primary, and a replica that has all of it. */
async function openPair(): Promise<readonly [FaultyRedis, FaultyRedis]> {
  const primary = await FaultyRedis.open();
  const replica = await FaultyRedis.open();
  await replica.follow(primary);
  return [primary, replica];
}

/** Repeats an operation until it succeeds. */
function recover<T>(run: () => PromiseLike<T>): Promise<T> {
  return expectRecovery(TIMEOUT_MS, async () => await run());
}

const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function changeCertificates(): Promise<void> {
  const redis = await TlsRedis.open();
  const redisOptions = { tls: { ca: redis.ca } };
  const { alarms, store } = open(redis, { redisOptions });
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
      .poll(() => getOutcome(store.invoke(put('name', 'Bob'))), { timeout: TIMEOUT_MS })
      .toMatchObject(refused);
    expect(await getOutcome(store.invokeStrong(get('name')))).toMatchObject(refused);
    expect(await getOutcome(open(redis, { redisOptions }).store.invoke(get('name')))).toMatchObject(
      refused,
    );
    expect(alarms.splice(0)).toMatchObject([
      { code: 'access-refused', message: expect.stringMatching(words) },
    ]);
    await redis.show('good');
    expect(await recover(() => store.invokeStrong(get('name')))).toBe(kind);
    await recover(() => store.invoke(put('name', 'Cleo')));
  }
}

describeFaults(valkey, {
  killed: async () => {
    const primary = await FaultyRedis.open(DURABLE);
    const replica = await FaultyRedis.open();
    await replica.follow(primary);
    const { store } = open(primary, { replicas: [replica.address] });
    await store.invoke(put('name', 'Ada'));
    await replica.untilCaughtUp(primary.port);
    await primary.kill();
    // A write that is sent before the connection is seen to have ended is UNKNOWN.
    await expect
      .poll(() => getOutcome(store.invoke(put('name', 'Ada'))))
      .toMatchObject({
        code: 'UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining('Nothing was sent.'),
      });
    expect(await store.invokeWeak(get('name'))).toBe('Ada');
    await primary.start();
    expect(await recover(() => store.invokeStrong(get('name')))).toBe('Ada');
    await store.invoke(put('name', 'Cleo'));
  },

  // The replica and the primary are frozen together: no other server hides the one that is.
  frozen: async () => {
    const [primary, replica] = await openPair();
    const { store } = open(primary, { replicas: [replica.address] });
    await store.invoke(put('name', 'Ada'));
    await replica.untilCaughtUp(primary.port);
    await store.invokeWeak(get('name'));
    replica.signal('SIGSTOP');
    expect(await store.invokeWeak(get('name'))).toBe('Ada');
    primary.signal('SIGSTOP');
    const frozenAtMs = performance.now();
    const [write, read] = await Promise.all([
      getOutcome(store.invoke(put('name', 'Bob'))),
      getOutcome(store.invokeStrong(get('name'))),
    ]);
    expect(write.code).toBe('UNKNOWN');
    expect(read).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    while (performance.now() - frozenAtMs < FREEZE_MS)
      expect((await getOutcome(store.invoke(put('name', 'Cleo')))).code).not.toBe('done');
    primary.signal('SIGCONT');
    replica.signal('SIGCONT');
    await recover(() => store.invoke(put('name', 'Dan')));
    expect(await store.invokeStrong(get('name'))).toBe('Dan');
  },

  cut: async () => {
    const primary = await FaultyRedis.open();
    const route = await openRoute(primary);
    const { store } = open(route);
    await store.invoke(put('name', 'Ada'));
    route.cutSilently();
    const write = getOutcome(store.invoke(put('name', 'Bob')));
    expect(await getOutcome(store.invokeStrong(get('name')))).toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect((await write).code).toBe('UNKNOWN');
    expect(await recover(() => store.invokeStrong(get('name')))).toBe('Ada');
  },

  halfOpen: async () => {
    const primary = await FaultyRedis.open();
    const route = await openRoute(primary);
    const { store } = open(route);
    await store.invoke(put('name', 'Ada'));
    route.dropAnswers();
    expect((await getOutcome(store.invoke(put('name', 'Bob')))).code).toBe('UNKNOWN');
    expect(await recover(() => store.invokeStrong(get('name')))).toBe('Bob');
  },

  // @rule REPL-20
  demoted: async () => {
    const [old, next] = await openPair();
    const { store } = open(old);
    await store.invoke(put('seats', 3));
    await next.untilCaughtUp(old.port);
    await next.promote();
    await old.ask('REPLICAOF', '127.0.0.1', next.port);
    expect(await getOutcome(store.invokeStrong(get('seats')))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(await getOutcome(store.invoke(put('seats', 2)))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(await getOutcome(store.invokeWeak(get('seats')))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await next.ask('GET', 'seats')).toBe('3');
    await old.promote();
    await recover(() => store.invoke(put('seats', 1)));
    expect(await store.invokeStrong(get('seats'))).toBe(1);
  },

  // @rule REPL-23
  promoted: async () => {
    const [old, next] = await openPair();
    const route = await openRoute(old);
    const { store } = open(route);
    const session = store.session();
    await store.invoke(put('seats', 3), { session });
    await next.untilCaughtUp(old.port);
    await next.promote(); // The old one still runs, and takes writes.
    route.target = next.address;
    route.closeAll();
    await recover(() => store.invoke(put('seats', 2), { session }));
    route.target = old.address;
    route.closeAll();
    // Another process has the session only.
    const { store: other } = open(route);
    const moved = other.session({ tokens: session.tokens });
    for (const [client, options] of [
      [store, {}],
      [other, { session: moved }],
    ] as const) {
      const read = await getOutcome(client.invokeStrong(get('seats'), options));
      const write = await getOutcome(client.invoke(put('seats', 9), options));
      expect([read, write]).toMatchObject([
        { code: 'UNAVAILABLE' },
        { code: 'UNAVAILABLE', retryable: true },
      ]);
    }
    expect(await old.ask('GET', 'seats')).toBe('3');
    route.target = next.address;
    expect(await recover(() => store.invokeStrong(get('seats')))).toBe(2);
  },

  moved: async () => {
    const [old, next] = await openPair();
    const name = await openRoute(old);
    const { store } = open(name);
    await store.invoke(put('name', 'Ada'));
    await next.untilCaughtUp(old.port);
    await next.promote();
    await old.ask('REPLICAOF', '127.0.0.1', next.port);
    name.target = next.address; // Connections that are open stay where they are.
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await next.ask('GET', 'name')).toBe('"Bob"');
  },

  crashed: async () => {
    const primary = await FaultyRedis.open(DURABLE);
    const { store } = open(primary);
    const acknowledged: number[] = [];
    const outcomes = Array.from({ length: 200 }, async (_, n) => {
      await pass(n % 20);
      const outcome = await getOutcome(store.invoke(put(`key:${n}`, n)));
      if (outcome.code === 'done') acknowledged.push(n);
      return outcome;
    });
    await Promise.race(outcomes);
    await primary.kill();
    const codes = new Set((await Promise.all(outcomes)).map(({ code }) => code));
    expect([...codes].every((code) => ['done', 'UNKNOWN', 'UNAVAILABLE'].includes(code))).toBe(
      true,
    );
    await primary.start();
    const keys = acknowledged.map((n) => `key:${n}`);
    expect(await recover(() => store.invokeStrong(getMany(keys)))).toEqual(acknowledged);
  },

  // @rule REPL-24
  restored: async () => {
    const primary = await FaultyRedis.open();
    const replica = await FaultyRedis.open();
    await replica.follow(primary);
    const { alarms, store } = open(primary, { replicas: [replica.address] });
    const session = store.session();
    await store.invoke(put('name', 'Ada'), { session });
    await replica.kill();
    await primary.kill();
    await primary.start(); // It has kept nothing.
    const read = await recover(() =>
      store.invoke(get('name'), { session, levels: ['primary'] }).settle(),
    );
    expect(read).toMatchObject({ final: true, regressed: true });
    expect(read.value).toBeUndefined();
    expect(alarms).toMatchObject([{ code: 'lost-writes' }]);
    await store.invoke(put('name', 'Bob'), { session });
    expect(await store.invokeStrong(get('name'), { session })).toBe('Bob');
  },

  credentials: async () => {
    const primary = await FaultyRedis.open();
    const { ask } = { ask: primary.ask.bind(primary) };
    await ask('ACL', 'SETUSER', 'shop', 'on', '>old', '~*', '+@all');
    let password = 'old';
    const redisOptions = {
      username: 'shop',
      get password() {
        return password;
      },
    };
    const { alarms, store } = open(primary, { redisOptions });
    await store.invoke(put('name', 'Ada'));
    await ask('ACL', 'SETUSER', 'shop', 'resetpass', '>new');
    await ask('CLIENT', 'KILL', 'USER', 'shop');
    await expect
      .poll(() => getOutcome(store.invoke(put('name', 'Bob'))))
      .toMatchObject({
        code: 'UNAUTHENTICATED',
        message: expect.stringContaining('WRONGPASS'),
      });
    expect(await getOutcome(store.invokeStrong(get('name')))).toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    expect(alarms).toMatchObject([
      { code: 'access-refused', message: expect.stringContaining('WRONGPASS') },
    ]);
    password = 'new';
    await recover(() => store.invoke(put('name', 'Cleo')));
    await ask('ACL', 'SETUSER', 'shop', '-set');
    expect(await getOutcome(store.invoke(put('name', 'Dan')))).toMatchObject({
      code: 'FORBIDDEN',
      retryable: false,
    });
    expect(await store.invokeStrong(get('name'))).toBe('Cleo');
    await ask('ACL', 'SETUSER', 'shop', '-get');
    expect(await getOutcome(store.invokeStrong(get('name')))).toMatchObject({ code: 'FORBIDDEN' });
    await ask('ACL', 'SETUSER', 'shop', '+@all');
    await recover(() => store.invoke(put('name', 'Dan')));
    await changeCertificates();
  },

  connections: async () => {
    const primary = await FaultyRedis.open();
    const { store } = open(primary);
    await store.invoke(put('name', 'Ada'));
    await primary.ask('CONFIG', 'SET', 'maxclients', 8);
    const empty = await primary.fill();
    onTestFinished(empty);
    const { store: other } = open(primary);
    expect(await getOutcome(other.invoke(put('name', 'Bob')))).toMatchObject({
      code: 'OVERLOADED',
      retryable: true,
      message: expect.stringContaining('max number of clients'),
    });
    await store.invoke(put('name', 'Cleo'));
    empty();
    await recover(() => other.invoke(put('name', 'Dan')));
  },

  // @rule REPL-21
  space: async () => {
    const primary = await FaultyRedis.open();
    const { store } = open(primary);
    await store.invoke(put('name', 'Ada'));
    await primary.ask('CONFIG', 'SET', 'maxmemory', '1');
    expect(await getOutcome(store.invoke(put('name', 'Bob')))).toMatchObject({
      code: 'OVERLOADED',
      message: expect.stringContaining('Nothing was written.'),
    });
    expect(await store.invokeStrong(get('name'))).toBe('Ada');
    await store.invoke(remove('other'));
    await primary.ask('CONFIG', 'SET', 'maxmemory', '0');
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  readOnly: async () => {
    const primary = await FaultyRedis.open();
    const { store } = open(primary);
    await store.invoke(put('name', 'Ada'));
    await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', 1);
    expect(await getOutcome(store.invoke(put('name', 'Bob')))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('NOREPLICAS'),
    });
    expect(await store.invokeStrong(get('name'))).toBe('Ada');
    await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', 0);
    await recover(() => store.invoke(put('name', 'Cleo')));
  },

  // @rule REPL-25
  foreignValue: async () => {
    const [primary, replica] = await openPair();
    const { binding, store } = open(primary, { replicas: [replica.address], prefix: 'shop:' });
    await store.invoke(put('name', 'Ada'));
    await primary.ask('SET', 'shop:legacy', 'plain text');
    await primary.ask('RPUSH', 'shop:list', 'a');
    await replica.untilCaughtUp(primary.port);
    for (const key of ['legacy', 'list']) {
      for (const read of [store.invokeStrong(get(key)), store.invokeWeak(getMany(['name', key]))])
        expect(await getOutcome(read)).toMatchObject(unreadable(key));
      const view = await store.invoke(get('name'), { levels: ['replica'] }).settle();
      expect(view).toMatchObject({ level: 'replica', value: 'Ada' });
    }
    expect(binding.stats.replicaFailures).toBe(0);
    await store.invoke(put('legacy', 'written'));
    expect(await store.invokeStrong(get('legacy'))).toBe('written');
  },

  parsers: async () => {
    const primary = await FaultyRedis.open();
    const names = ['get', 'set', 'info', 'wait'] as const;
    const { reply } = (Command as unknown as { _transformer: { reply: Record<string, unknown> } })
      ._transformer;
    for (const name of names) Command.setReplyTransformer(name, () => 'of another library');
    onTestFinished(() => names.forEach((name) => Reflect.deleteProperty(reply, name)));
    const { store } = open(primary, { redisOptions: { stringNumbers: true }, waitForReplicas: 0 });
    await store.invoke(put('name', 'Ada'));
    expect(await store.invokeStrong(get('name'))).toBe('Ada');
  },

  // @rule REPL-22
  callerLeaves: async () => {
    const [primary, replica] = await openPair();
    const { store } = open(primary, { waitForReplicas: 1, waitTimeoutMs: 1_000 });
    const leaving = new AbortController();
    leaving.abort();
    expect((await getOutcome(store.invoke(put('none', 1), { signal: leaving.signal }))).code).toBe(
      'ABORTED',
    );
    await store.invoke(put('name', 'Ada'));
    replica.signal('SIGSTOP');
    // The first write waits for the replica, the second one for the first one.
    const sent = new AbortController();
    const queued = new AbortController();
    const first = getOutcome(store.invoke(put('first', 1), { signal: sent.signal }));
    await expect.poll(() => primary.ask('GET', 'first')).toBe('1');
    const second = getOutcome(store.invoke(put('second', 2), { signal: queued.signal }));
    sent.abort();
    queued.abort();
    expect((await first).code).toMatch(/^(UNKNOWN|ABORTED)$/);
    expect((await second).code).toBe('ABORTED');
    replica.signal('SIGCONT');
    await recover(() => store.invoke(put('name', 'Bob')));
    expect(await primary.ask('MGET', 'none', 'second')).toEqual([null, null]);
  },
});
