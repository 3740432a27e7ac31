/**
 * Real PostgreSQL servers, whose primary is in Virginia: those that `npm run engines -- up
 * postgres` started if they have the delays asked for, otherwise some for this sale. Each retailer
 * has a binding of its own, as in processes of their own.
 */
import { createClient } from 'correctables';
import { postgres } from 'correctables/bindings/postgres';
import { peek } from 'correctables/operations';
import type { Throttle } from 'correctables/operations';
import { openSchema } from '../../shared/postgres/schema.ts';
import type { Shop } from '../purchase.ts';
import { closeShops, type OpenStore } from './store.ts';

/** Opens them all before the sale: to open one takes several round trips. */
async function openConnections(shop: Shop, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => shop.invoke(peek('none'))));
}

/**
 * A dequeue takes a round trip to the primary, 83 or 90 ms. A slot that is not reused before that
 * serves as many customers, and the others know that it is not.
 */
const THROTTLE: Throttle = { maxInFlight: 16, minSlotIntervalMs: 90 };

export const openPostgres: OpenStore = async ({ client, wan, isFixed }, progress) => {
  const connections = THROTTLE.maxInFlight;
  const schema = await openSchema({ name: 'ticket_shop', wan, connections }, progress);
  progress(`retailers beside ${client.join(', ')}`);
  const throttle = isFixed || client.length === 1 ? {} : THROTTLE;
  const shops = client.map((site): Shop =>
    createClient(postgres({ ...schema.connect(site), ...throttle })),
  );
  await Promise.all(shops.map((shop) => openConnections(shop, connections)));
  return {
    shops,
    baselines: {},
    alternatives: {},
    async close() {
      await closeShops(shops);
      await schema.close();
    },
  };
};
