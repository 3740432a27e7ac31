/** Each feature of the Valkey binding works through `httpHandler` and through a gateway. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask } from '../../../engines/redis/ask.ts';
import { valkey, type ValkeyOptions } from '../../../src/bindings/valkey/index.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { keys, NETWORK_WAYS } from '../support/network-ways.ts';
import { portOf, withValkeyReplicas } from '../support/valkey-replicas.ts';

const it = withValkeyReplicas('redis');

function openBinding(options: Partial<ValkeyOptions> = {}) {
  const { primary, replicas } = it.sites;
  return valkey({ primary, replicas, tokenKey: 'a secret of all processes', ...options });
}

describe.each(NETWORK_WAYS)('through %s', (way, open) => {
  async function openClient(options: Partial<ValkeyOptions> = {}) {
    const store = openBinding({ prefix: `${way}:`, ...options });
    const network = await open(store);
    onTestFinished(async () => {
      await network.close();
      await store.close();
    });
    const connect = () => {
      const client = createClient(network.connect(), { timeoutMs: 20_000 });
      onTestFinished(() => client.close());
      return client;
    };
    return { client: connect(), connect };
  }

  let run = 0;
  runConformance({
    name: `valkey through ${way}`,
    async createBinding() {
      const store = openBinding({ prefix: `${way} conformance ${(run += 1)}:` });
      const network = await open(store);
      return {
        binding: network.connect(),
        secondBinding: async () => network.connect(),
        release: async () => {
          await network.close();
          await store.close();
        },
      };
    },
    write: keys.put({ key: 'k', value: { n: 1 } }),
    read: keys.get({ key: 'k' }),
    expected: { n: 1 },
  });

  test('values, lists of keys, removes, and values that expire', async () => {
    const { client } = await openClient();
    await client.invoke(keys.put({ key: 'a ☃', value: [1, { b: null }] }));
    expect(await client.invokeStrong(keys.getMany({ keys: ['a ☃', 'none'] }))).toEqual([
      [1, { b: null }],
      undefined,
    ]);
    await client.invoke(put('brief', 1, { ttlMs: 50 }));
    await expect.poll(() => client.invokeStrong(get('brief'))).toBeUndefined();
    await client.invoke(keys.remove({ key: 'a ☃' }));
    expect(await client.invokeStrong(keys.get({ key: 'a ☃' }))).toBeUndefined();
  });

  test('each level gives its view, with its lag', async () => {
    const { client } = await openClient();
    await client.invoke(put('level', 'old'));
    await client.invokeStrong(get('level'));
    await it.sites.resume();
    it.sites.hold();
    onTestFinished(() => it.sites.resume());
    await client.invoke(put('level', 'new'));
    for (const [level, value] of [
      ['replica', 'old'],
      ['primary', 'new'],
    ] as const)
      expect(await client.invoke(get('level'), { levels: [level] }).settle()).toMatchObject({
        level,
        value,
        meta: { lagMs: expect.any(Number) },
      });
  });

  // @rule REPL-5
  test('a session does not go back to a stale replica, also in another client', async () => {
    const { client, connect } = await openClient();
    const session = client.session();
    it.sites.hold();
    onTestFinished(() => it.sites.resume());
    await client.invoke(put('mine', 1), { session });
    expect(await client.invokeWeak(get('mine'))).toBeUndefined();
    const other = connect();
    const moved = other.session({ tokens: session.tokens });
    expect(await other.invokeWeak(get('mine'), { session: moved })).toBe(1);
  });

  // @rule REPL-4
  test('a write that no replica acknowledges is UNKNOWN, and not retryable', async () => {
    const { client } = await openClient({ waitForReplicas: 2, waitTimeoutMs: 100 });
    it.sites.hold();
    onTestFinished(() => it.sites.resume());
    await expect(client.invoke(put('copies', 2))).rejects.toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
      message: expect.stringContaining('0 of 2 replicas'),
    });
    expect(await client.invokeStrong(get('copies'))).toBe(2);
  });

  // @rule REPL-19
  test('a value of another program is INVALID_VALUE that names the key, and others are read', async () => {
    const { client } = await openClient();
    await ask(portOf(it.sites.primary), 'SET', `${way}:foreign`, 'no JSON');
    await client.invoke(put('own', 1));
    await expect(client.invokeStrong(get('foreign'))).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      retryable: false,
      key: 'foreign',
    });
    expect(await client.invokeStrong(get('own'))).toBe(1);
  });

  test('an idempotency key is refused, since Valkey keeps none, and nothing is written', async () => {
    const { client } = await openClient();
    await expect(client.invoke(put('keyed', 1), { idempotencyKey: 'once' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(await client.invokeStrong(get('keyed'))).toBeUndefined();
  });
});
