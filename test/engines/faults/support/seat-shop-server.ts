/**
 * A server of one's own, as a process: prints its addresses. The argument is the token of its
 * clients.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tiered } from '../../../../src/bindings/tiered/index.ts';
import { createHandler } from '../../../../src/contract/index.ts';
import { httpHandler } from '../../../../src/http/index.ts';
import { createGateway, listenGateways } from '../../../../src/server/index.ts';
import { LEVELS, shop } from './seat-shop.ts';

const token = process.argv[2];
const taken = new Set<string>();
const primary = createHandler(shop, {
  seats: () => [...taken],
  book: ({ seat }) => {
    taken.add(seat);
    return null;
  },
});
const binding = tiered(LEVELS, { primary });

const check = (found: string | undefined): { id: string } => {
  if (found !== token) throw new Error('unknown token');
  return { id: 'ada' };
};
const handler = httpHandler(shop, binding, {
  authenticate: ({ headers }) =>
    check((headers as Record<string, string>)['authorization']?.replace('Bearer ', '')),
});
const server = createServer((request, response) => void handler(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const gateway = createGateway({ binding, contract: shop, authenticate: check });
const listener = await listenGateways({ sites: { here: gateway } });

const { port } = server.address() as AddressInfo;
process.stdout.write(
  JSON.stringify({ http: `http://127.0.0.1:${port}`, websocket: listener.siteUrl('here') }),
);
