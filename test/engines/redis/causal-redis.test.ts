/** A causal store on two real sites of Redis: what servers keep, lose and refuse. */
import { expect, onTestFinished, test } from 'vitest';
import { flushAll, flushScripts } from '../../../engines/redis/faults.ts';
import { createClient, type Client } from '../../../src/index.ts';
import type { CausalLevels, CausalRedisAlarm } from '../../../src/bindings/causal-redis/index.ts';
import { RedisKeyspace } from '../../../src/bindings/causal-redis/keyspace.ts';
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import { startDeployment } from '../support/causal-deployment.ts';
import { connectForTest, withRedis } from '../support/redis.ts';

const it = withRedis({ masters: 3, replicas: 0 });

interface OpenDeployment {
  readonly name: string;
  readonly dublin: Client<CausalLevels>;
  readonly oregon: Client<CausalLevels>;
  readonly alarms: readonly CausalRedisAlarm[];
}

async function open(): Promise<OpenDeployment> {
  const { name, open: openSite, stop } = await startDeployment(it.sites);
  onTestFinished(stop);
  const alarms: CausalRedisAlarm[] = [];
  const onAlarm = (alarm: CausalRedisAlarm) => alarms.push(alarm);
  const [dublin, oregon] = [openSite('dublin', { onAlarm }), openSite('oregon')];
  return { name, alarms, dublin: createClient(dublin), oregon: createClient(oregon) };
}

test('writes arrive at the other site, and a session goes on there', async () => {
  const { dublin, oregon } = await open();
  const session = dublin.session();
  await dublin.invoke(put('acl', ['alice']), { session });
  await dublin.invoke(put('photo', { bytes: 'ü'.repeat(100) }, { ttlMs: 60_000 }), { session });
  const moved = oregon.session({ tokens: session.tokens });
  expect(await oregon.invokeWeak(getMany(['acl', 'photo', 'none']), { session: moved })).toEqual([
    ['alice'],
    { bytes: 'ü'.repeat(100) },
    undefined,
  ]);
  await oregon.invoke(remove('photo'), { session: moved });
  expect(await dublin.invoke(get('photo'))).toBeUndefined();
});

test('after FLUSHALL at a site all keys come back, and none is shown as absent (CAUSAL-13)', async () => {
  const { dublin, oregon } = await open();
  const keys = Array.from({ length: 40 }, (_, at) => `k${at}`);
  const session = dublin.session();
  for (const key of keys) await dublin.invoke(put(key, key), { session });
  await oregon.invokeWeak(getMany(keys), { session: oregon.session({ tokens: session.tokens }) });
  for (const shard of it.sites.shards) await flushAll(it.sites, { site: 'dublin', shard });
  expect(await dublin.invokeWeak(getMany(keys), { timeoutMs: 30_000 })).toEqual(keys);
});

test('a server that forgets the scripts gets them again', async () => {
  const { dublin } = await open();
  await dublin.invoke(put('a', 1));
  await flushScripts(it.sites, 'dublin');
  expect(await dublin.invokeWeak(get('a'))).toBe(1);
});

test('a user with the rights of the guide can do all, and one without hscan is found', async () => {
  const { name } = await open();
  const cluster = connectForTest(it.sites, 'dublin');
  await cluster.get('a');
  const rights = `~{${name}* +evalsha +eval +script|load +hget +hmget +hset +hdel +hgetall +hkeys +hscan +exists +set +get +del +time +cluster|slots +cluster|info +info +hello +ping`;
  for (const master of cluster.nodes('master')) {
    await master.call('ACL', 'SETUSER', 'shop', 'reset', 'on', '>secret', ...rights.split(' '));
    await master.call(
      'ACL',
      'SETUSER',
      'poor',
      'reset',
      'on',
      '>secret',
      ...rights.replace('+hscan ', '').split(' '),
    );
  }
  const connect = (username: string) => {
    const redisOptions = { username, password: 'secret' };
    const client = it.sites.connect('dublin', 'dublin', { redisOptions });
    client.on('error', () => {}); // Calls fail with it.
    onTestFinished(() => client.disconnect());
    return new RedisKeyspace(client as never, name);
  };
  await connect('shop').checkRights();
  expect(await connect('shop').readRecord()).toMatchObject({ site: 'dublin' });
  expect(await connect('shop').inspect()).toHaveLength(3);
  await expect(connect('poor').checkRights()).rejects.toThrow(/hscan|can't run this command/);
});
