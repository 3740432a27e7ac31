/** The customer's client, at the nearest site. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { shop } from './contract.ts';

export const client = createClient(redblue(shop, { url: `ws://${location.host}/singapore` }));

declare module 'correctables/react' {
  interface Register {
    client: typeof client;
  }
}
