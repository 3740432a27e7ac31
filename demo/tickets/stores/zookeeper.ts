/**
 * A real ZooKeeper ensemble: the one that `npm run engines -- up zookeeper` started if it has the
 * delays asked for, otherwise one for this sale. Each retailer has a separate binding, as each has
 * a separate session in the vanilla recipe. So no retailer knows the dequeues of the others, even
 * at the same site. As an alternative, the retailers of one site share a binding, as is possible in
 * one process.
 */
import { createClient } from 'correctables';
import { ZooKeeper, zookeeper } from 'correctables/bindings/zookeeper';
import type { Throttle } from 'correctables/operations';
import { useEnsemble } from '../../../engines/zookeeper/engine.ts';
import type { Site } from '../options.ts';
import { THROTTLE } from '../throttle.ts';
import type { Shop } from '../purchase.ts';
import { closeShops, SHARED, type OpenStore } from './store.ts';
import { vanillaQueue } from './vanilla-queue.ts';

const WAIT_MS = 10_000;

export const openZookeeper: OpenStore = async ({ client, wan, isFixed }, progress) => {
  const { ensemble, stop } = await useEnsemble({ wan }, progress);
  const root = `/ticket-shop-${Date.now()}`;
  const sites = [...new Set(client)];
  const bindingsAt = (places: readonly Site[], path: string): ReturnType<typeof zookeeper>[] =>
    places.map((site) => {
      const servers = ensemble.connectString(site);
      return zookeeper({ servers, root: path, ...readThrottle(places.length, isFixed) });
    });
  const own = bindingsAt(client, root);
  // Use another root, because all registered bindings of a root count as consumers, even if they
  // are idle.
  const shared = bindingsAt(sites, `${root}-shared`);
  const sharedAt = new Map(sites.map((site, n): [Site, Shop] => [site, createClient(shared[n]!)]));
  const vanilla = client.map((site): Shop =>
    createClient(
      vanillaQueue(
        new ZooKeeper(ensemble.connectString(site), { sessionTimeoutMs: WAIT_MS }),
        `${root}-vanilla`,
      ),
    ),
  );
  for (const site of sites) progress(`retailers beside ${site}: ${ensemble.address(site)}`);
  await Promise.all([...own, ...shared].map((binding) => binding.whenConnected()));
  const shops = own.map((binding): Shop => createClient(binding));
  const sharing = client.map((site) => sharedAt.get(site) as Shop);
  return {
    shops,
    baselines: { vanilla },
    alternatives: { [SHARED]: sharing },
    async close() {
      await closeShops(shops, sharing, vanilla);
      await stop();
    },
  };
};

/** Returns the throttle. A single binding needs none, because no other consumer exists. */
function readThrottle(bindings: number, isFixed: boolean): Partial<Throttle> {
  return isFixed || bindings === 1 ? {} : THROTTLE;
}
