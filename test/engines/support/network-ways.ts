/** A binding through `httpHandler`, and through a gateway: the two ways over the network. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { http } from '../../../src/bindings/http/index.ts';
import { remote } from '../../../src/bindings/remote/index.ts';
import { defineContract, keyValueOperations } from '../../../src/contract/index.ts';
import type { Levels } from '../../../src/correctable/level-types.ts';
import type { Binding } from '../../../src/correctable/binding.ts';
import { httpHandler } from '../../../src/http/index.ts';
import { createGateway, listenGateways } from '../../../src/server/index.ts';

const key = z.string();

/** The operations of a store of keys whose values may expire. */
export const keys = defineContract('keys', {
  ...keyValueOperations,
  put: {
    access: 'write',
    args: z.object({ key, value: z.unknown(), ttlMs: z.optional(z.number()) }),
    result: z.void(),
    key: (args) => args.key,
  },
  remove: {
    access: 'write',
    args: z.object({ key }),
    result: z.void(),
    key: (args) => args.key,
  },
});

export interface NetworkWay<L extends Levels> {
  /** Connects a client. */
  connect(): Binding<L>;
  close(): Promise<void>;
}

type OpenWay = <const L extends Levels>(store: Binding<L>) => Promise<NetworkWay<L>>;

const openHttp: OpenWay = async (store) => {
  const handle = httpHandler(keys, store, { onError: () => {} });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api`;
  const levels = store.consistencyLevels();
  return {
    connect: () => http(keys, { url, levels, hasSessions: true }) as never,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const openGateway: OpenWay = async (store) => {
  const gateway = createGateway({ binding: store, contract: keys });
  const listener = await listenGateways({ sites: { here: gateway } });
  const url = listener.siteUrl('here');
  const levels = store.consistencyLevels();
  return {
    connect: () => remote({ url, levels, contract: keys, hasSessions: true, WebSocket }) as never,
    close: () => listener.close({ drainMs: 0 }),
  };
};

export const NETWORK_WAYS: readonly (readonly [name: string, open: OpenWay])[] = [
  ['http', openHttp],
  ['gateway', openGateway],
];
