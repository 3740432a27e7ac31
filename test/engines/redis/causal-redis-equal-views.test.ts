/**
 * The store in this process and the one on Redis show the same values to a session that moves
 * between sites.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createCausalStore } from '../../../src/bindings/causal/index.ts';
import { createClient, type Client } from '../../../src/index.ts';
import type { CausalLevels } from '../../../src/bindings/causal-redis/index.ts';
import { REDIS_SITES, type RedisSite } from '../../../engines/redis/layout.ts';
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import { startDeployment } from '../support/causal-deployment.ts';
import { withRedis } from '../support/redis.ts';

const it = withRedis({ masters: 1, replicas: 0 });
const RUNS = 15;

const key = fc.constantFrom('a', 'b', '{t}c', 'ü');
const step = fc.record({
  site: fc.constantFrom(...REDIS_SITES),
  call: fc.oneof(
    fc.record({ name: fc.constant('put' as const), key, value: fc.jsonValue() }),
    fc.record({ name: fc.constant('remove' as const), key }),
    fc.record({ name: fc.constant('get' as const), key }),
    fc.record({ name: fc.constant('getMany' as const), keys: fc.array(key, { maxLength: 4 }) }),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Clients = Readonly<Record<RedisSite, Client<CausalLevels>>>;

/**
 * Runs all steps in one session, and returns what they have shown. Keys of a run have a prefix of
 * their own.
 */
async function run(clients: Clients, prefix: string, steps: readonly Step[]): Promise<unknown[]> {
  const shown: unknown[] = [];
  let tokens: readonly string[] = [];
  for (const { site, call } of steps) {
    const client = clients[site];
    const session = client.session({ tokens });
    const options = { session, timeoutMs: 30_000 };
    if (call.name === 'put') await client.invoke(put(prefix + call.key, call.value), options);
    else if (call.name === 'remove') await client.invoke(remove(prefix + call.key), options);
    else if (call.name === 'get')
      shown.push(await client.invokeWeak(get(prefix + call.key), options));
    else
      shown.push(await client.invokeWeak(getMany(call.keys.map((item) => prefix + item)), options));
    tokens = session.tokens;
  }
  return shown;
}

test('both forms show the same values', async () => {
  const { open, stop } = await startDeployment(it.sites, 3);
  onTestFinished(stop);
  const onRedis = { dublin: createClient(open('dublin')), oregon: createClient(open('oregon')) };
  const store = createCausalStore({ sites: REDIS_SITES, partitions: 3 });
  const embedded = {
    dublin: createClient(store.site('dublin')),
    oregon: createClient(store.site('oregon')),
  };
  onTestFinished(() => store.close());
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      runs += 1;
      expect(await run(onRedis, `${runs}.`, steps)).toEqual(await run(embedded, `${runs}.`, steps));
    }),
    { numRuns: RUNS },
  );
});
