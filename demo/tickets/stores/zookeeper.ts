/**
 * A real ZooKeeper ensemble: the one that `npm run engines -- up zookeeper` started if it has the delays asked for,
 * otherwise one for this sale. The retailers beside one site share a process and its binding, which thus knows the dequeues
 * of all of them; those at other sites sell through bindings of their own.
 */
import { createClient } from 'correctables';
import { ZooKeeper, zookeeper } from 'correctables/bindings/zookeeper';
import { useEnsemble } from '../../../engines/zookeeper/engine.ts';
import type { Site } from '../options.ts';
import { PACE } from '../pace.ts';
import type { Shop } from '../purchase.ts';
import { closeShops, type OpenStore } from './store.ts';
import { vanillaQueue } from './vanilla-queue.ts';

const WAIT_MS = 10_000;

export const openZookeeper: OpenStore = async ({ client, wan, fixed }, progress) => {
  const { ensemble, stop } = await useEnsemble({ wan }, progress);
  const root = `/ticket-shop-${Date.now()}`;
  const sites = [...new Set(client)];
  // Alone a binding may take as fast as it can: there is nobody who does not know of it.
  const pace = fixed || sites.length === 1 ? {} : PACE;
  const bindings = sites.map((site) => zookeeper({ servers: ensemble.connectString(site), root, ...pace }));
  const shopAt = new Map<Site, Shop>(sites.map((site, n) => [site, createClient(bindings[n]!)]));
  const vanilla = client.map((site): Shop =>
    createClient(
      vanillaQueue(new ZooKeeper(ensemble.connectString(site), { sessionTimeoutMs: WAIT_MS }), `${root}-vanilla`),
    ),
  );
  for (const site of sites) progress(`retailers beside ${site}: ${ensemble.address(site)}`);
  await Promise.all(bindings.map((binding) => binding.connected()));
  const shops = client.map((site) => shopAt.get(site) as Shop);
  return {
    shops,
    baselines: { vanilla },
    async close() {
      await closeShops(shops, vanilla);
      await stop();
    },
  };
};
