/**
 * The binding of a causal store on Redis keeps the contract of every binding, over partitions in
 * memory.
 */
import type { CausalBinding } from '../../src/bindings/causal/causal-binding.ts';
import { systemClock } from '../../src/correctable/clock.ts';
import { get, getMany, put, remove } from '../../src/operations/index.ts';
import { CausalRedisWorld } from '../support/causal-redis-world.ts';
import { runConformance } from '../support/run-conformance.ts';

/** Opens a gateway at each site, as `latest` needs. */
async function openSites(remoteMs = 2) {
  const world = new CausalRedisWorld({ clock: systemClock, remoteMs });
  world.prepareAll();
  const [dublin, oregon] = world.sites.map((site) => world.open(site)) as [
    CausalBinding,
    CausalBinding,
  ];
  const release = async () => {
    await dublin.close();
    await oregon.close();
  };
  const hasViews = () => world.sites.every((site) => world.memory(site).view !== undefined);
  while (!hasViews()) await new Promise((resolve) => setTimeout(resolve, 5));
  return { world, binding: dublin, secondBinding: async () => oregon, release };
}

runConformance({
  name: 'causal-redis, two sites',
  createBinding: () => openSites(),
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  slowBinding: () => openSites(120),
  strongLevelFails: async () => {
    const { world, ...subject } = await openSites();
    world.memory('oregon').isAway = true;
    return subject;
  },
});

runConformance({
  name: 'causal-redis, several keys',
  createBinding: async () => {
    const { binding, release } = await openSites();
    return { binding, release };
  },
  write: put('k', 1),
  read: getMany(['k', 'other']),
  expected: [1, undefined],
  history: (key) => [
    { operation: put(key, 1) },
    { operation: getMany([key, `${key} 2`]), expected: [1, undefined] },
    { operation: put(`${key} 2`, 2) },
    { operation: remove(key) },
    { operation: getMany([key, `${key} 2`]), expected: [undefined, 2] },
    { operation: get(key), expected: undefined },
  ],
});
