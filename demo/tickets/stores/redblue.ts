/** The RedBlue backend: three sites in this process, reached over real websockets. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { ticketShop } from '../contract.ts';
import type { Shop } from '../purchase.ts';
import { startBackend } from '../server.ts';
import { closeShops, type OpenStore } from './store.ts';

export const openRedblue: OpenStore = async ({ retailers, client, wan }, progress) => {
  progress(`starting three sites (delays: ${wan}); ${retailers} retailers beside ${client}`);
  const backend = await startBackend({ wan });
  const shops = Array.from({ length: retailers }, (): Shop =>
    createClient(redblue(ticketShop, { url: backend.siteUrl(client), WebSocket })),
  );
  return {
    shops,
    baselines: {},
    async close() {
      await closeShops(shops);
      await backend.close();
    },
  };
};
