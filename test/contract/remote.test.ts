/** A store behind a gateway keeps the promises of a binding, over a real socket. */
import { WebSocket } from 'ws';
import { memory } from '../../src/bindings/memory/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import type { OpenBinding } from '../../src/testing/binding-contract.ts';
import { keepsContract } from '../support/keeps-contract.ts';

async function open(codec: 'json' | 'msgpack', store = memory()): Promise<OpenBinding> {
  const gateway = createGateway({ binding: store });
  const listener = await listenGateways({ sites: { here: gateway } });
  const levels = store.consistencyLevels();
  const connect = () => remote({ url: listener.siteUrl('here'), levels, operations: ['get', 'put'], WebSocket, codec });
  return {
    binding: connect(),
    another: async () => connect(),
    async release() {
      await listener.close({ drainMs: 0 });
      await store.close();
    },
  };
}

for (const codec of ['msgpack', 'json'] as const) {
  keepsContract({
    name: `remote(gateway(memory)) over ${codec}`,
    open: () => open(codec),
    update: put('k', { n: 1 }),
    read: get('k'),
    expected: { n: 1 },
    slow: () => open(codec, memory({ delaysMs: { weak: 0, strong: 300 } })),
    weakless: { 'come late': () => open(codec, memory({ delaysMs: { weak: 200, strong: 1 } })) },
  });
}
