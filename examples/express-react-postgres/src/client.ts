import { createClient } from 'correctables';
import { http } from 'correctables/bindings/http';
import { bikes, LEVELS } from './contract.ts';

export const client = createClient(http(bikes, { url: '/api', levels: LEVELS, hasSessions: true }));

declare module 'correctables/react' {
  interface Register {
    client: typeof client;
  }
}
