/**
 * The binding of a causal store keeps the contract of every binding, on two real sites of Redis.
 */
import { createClient } from '../../../src/index.ts';
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { startDeployment } from '../support/causal-deployment.ts';
import { withRedis } from '../support/redis.ts';

const it = withRedis({ masters: 1, replicas: 0 });

/** Opens a process at each site, as `latest` needs. */
async function openSites() {
  const { open, stop } = await startDeployment(it.sites, 3);
  const [binding, second] = [open('dublin'), open('oregon')];
  // Until both have published what they know.
  for (const site of [second, binding]) await createClient(site).invoke(get('ready'));
  return { binding, secondBinding: async () => second, release: stop };
}

runConformance({
  name: 'causal-redis, on Redis',
  createBinding: openSites,
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  history: (key) => [
    { operation: put(key, 1) },
    { operation: getMany([key, `${key} 2`]), expected: [1, undefined] },
    { operation: put(`${key} 2`, 2) },
    { operation: remove(key) },
    { operation: getMany([key, `${key} 2`]), expected: [undefined, 2] },
    { operation: get(key), expected: undefined },
  ],
});
