/** The RedBlue backend: three sites in this process, reached over real websockets. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { ticketShop } from '../contract.ts';
import { THROTTLE } from '../throttle.ts';
import type { Shop } from '../purchase.ts';
import { startBackend } from '../server.ts';
import { closeShops, type OpenStore } from './store.ts';

export const openRedblue: OpenStore = async ({ client, wan, isFixed, stock }, progress) => {
  progress(`starting three sites (delays: ${wan}); retailers beside ${client.join(', ')}`);
  const backend = await startBackend({ wan, stock, ...(!isFixed && { pace: THROTTLE }) });
  const shops = client.map((site): Shop =>
    createClient(redblue(ticketShop, { url: backend.siteUrl(site), WebSocket })),
  );
  return {
    shops,
    baselines: {},
    alternatives: {},
    async close() {
      await closeShops(shops);
      await backend.close();
    },
  };
};
