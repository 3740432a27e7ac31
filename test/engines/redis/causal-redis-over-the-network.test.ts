/** Each feature of the causal store on Redis works through `httpHandler` and through a gateway. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CausalLevels } from '../../../src/bindings/causal-redis/index.ts';
import type { Binding } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { startDeployment } from '../support/causal-deployment.ts';
import { keys, NETWORK_WAYS } from '../support/network-ways.ts';
import { withRedis } from '../support/redis.ts';

const it = withRedis({ masters: 1, replicas: 0 });

async function openSites() {
  const { open, stop } = await startDeployment(it.sites, 3);
  const sites = { dublin: open('dublin'), oregon: open('oregon') };
  // Until both have published what they know.
  for (const site of Object.values(sites)) await createClient(site).invoke(get('ready'));
  return { ...sites, stop };
}

describe.each(NETWORK_WAYS)('through %s', (way, open) => {
  /** A client of each site, over a server of its own there. */
  async function openClients() {
    const { dublin, oregon, stop } = await openSites();
    onTestFinished(stop);
    const connect = async (site: Binding<CausalLevels>) => {
      const network = await open(site);
      const client = createClient(network.connect(), { timeoutMs: 20_000 });
      onTestFinished(async () => {
        await client.close();
        await network.close();
      });
      return client;
    };
    return { dublin: await connect(dublin), oregon: await connect(oregon) };
  }

  runConformance({
    name: `causal-redis through ${way}`,
    async createBinding() {
      const { dublin, oregon, stop } = await openSites();
      const [near, far] = [await open(dublin), await open(oregon)];
      return {
        binding: near.connect(),
        secondBinding: async () => far.connect(),
        release: async () => {
          await Promise.all([near.close(), far.close()]);
          await stop();
        },
      };
    },
    write: keys.put({ key: 'k', value: { n: 1 } }),
    read: keys.get({ key: 'k' }),
    expected: { n: 1 },
  });

  test('both levels, several keys of one moment, removes, and values that expire', async () => {
    const { dublin } = await openClients();
    await dublin.invoke(keys.put({ key: 'a ☃', value: { n: 1 } }));
    await dublin.invoke(put('b', 2, { ttlMs: 60_000 }));
    const levels: string[] = [];
    for await (const { level } of dublin.invoke(get('a ☃'))) levels.push(level);
    expect(levels).toEqual(['causal', 'latest']);
    await dublin.invoke(keys.remove({ key: 'a ☃' }));
    expect(await dublin.invoke(keys.getMany({ keys: ['a ☃', 'b'] }))).toEqual([undefined, 2]);
    await dublin.invoke(put('brief', 1, { ttlMs: 200 }));
    await expect.poll(() => dublin.invokeWeak(get('brief')), { timeout: 5_000 }).toBeUndefined();
  });

  test('a session reads its own writes at the other site (CAUSAL-20)', async () => {
    const { dublin, oregon } = await openClients();
    const session = dublin.session();
    await dublin.invoke(put('acl', ['alice']), { session });
    await dublin.invoke(put('photo', 'beach'), { session });
    const moved = oregon.session({ tokens: session.tokens });
    expect(
      await oregon.invokeWeak(keys.getMany({ keys: ['acl', 'photo'] }), { session: moved }),
    ).toEqual([['alice'], 'beach']);
  });

  test('a token that a client made up is refused (CAUSAL-21)', async () => {
    const { dublin } = await openClients();
    const session = dublin.session({ tokens: ['c1.99999999999999999_99999999999999999'] });
    await expect(dublin.invoke(put('a', 1), { session })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  test('a value that is too large is refused with its field, and nothing is written', async () => {
    const { dublin } = await openClients();
    await expect(dublin.invoke(put('large', 'x'.repeat(70_000)))).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      retryable: false,
    });
    expect(await dublin.invoke(get('large'))).toBeUndefined();
  });

  test('an idempotency key is refused, since the store keeps none, and nothing is written', async () => {
    const { dublin } = await openClients();
    await expect(dublin.invoke(put('keyed', 1), { idempotencyKey: 'once' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(await dublin.invoke(get('keyed'))).toBeUndefined();
  });
});
