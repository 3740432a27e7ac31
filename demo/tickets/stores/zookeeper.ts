/**
 * A real ZooKeeper ensemble: the one that `npm run engines -- up zookeeper` started if it has the delays asked for,
 * otherwise one for this sale. The retailers of this process share one binding, which thus knows the dequeues of all.
 */
import { createClient } from 'correctables';
import { ZooKeeper, zookeeper } from 'correctables/bindings/zookeeper';
import { useEnsemble } from '../../../engines/zookeeper/engine.ts';
import type { Shop } from '../purchase.ts';
import { closeShops, type OpenStore } from './store.ts';
import { vanillaQueue } from './vanilla-queue.ts';

const WAIT_MS = 10_000;

export const openZookeeper: OpenStore = async (options, progress) => {
  const { ensemble, stop } = await useEnsemble({ wan: options.wan }, progress);
  const { retailers, client } = options;
  const servers = ensemble.connectString(client);
  const root = `/ticket-shop-${Date.now()}`;
  progress(`${retailers} retailers beside ${client}, their server ${ensemble.address(client)}`);
  const binding = zookeeper({ servers, root });
  const shop: Shop = createClient(binding);
  const vanilla = Array.from({ length: retailers }, (): Shop =>
    createClient(vanillaQueue(new ZooKeeper(servers, { sessionTimeoutMs: WAIT_MS }), `${root}-vanilla`)),
  );
  await binding.connected();
  const shops = Array.from({ length: retailers }, () => shop);
  return {
    shops,
    baselines: { vanilla },
    leastThreshold: () => binding.leastThreshold(),
    async close() {
      await closeShops(shops, vanilla);
      await stop();
    },
  };
};
