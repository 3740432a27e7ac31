/** A store behind a gateway keeps the promises of a binding, over a real socket. */
import { WebSocket } from 'ws';
import { memory } from '../../src/bindings/memory/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import type { OpenedBinding } from '../../src/testing/binding-conformance.ts';
import { runConformance } from '../support/run-conformance.ts';

async function open(codec: 'json' | 'msgpack', store = memory()): Promise<OpenedBinding> {
  const gateway = createGateway({ binding: store });
  const listener = await listenGateways({ sites: { here: gateway } });
  const levels = store.consistencyLevels();
  const connect = () =>
    remote({
      url: listener.siteUrl('here'),
      levels,
      operations: ['get', 'put', 'readVersions', 'commit'],
      WebSocket,
      codec,
    });
  return {
    binding: connect(),
    secondBinding: async () => connect(),
    async release() {
      await listener.close({ drainMs: 0 });
      await store.close();
    },
  };
}

for (const codec of ['msgpack', 'json'] as const) {
  runConformance({
    name: `remote(gateway(memory)) over ${codec}`,
    createBinding: () => open(codec),
    write: put('k', { n: 1 }),
    read: get('k'),
    expected: { n: 1 },
    slowBinding: () => open(codec, memory({ delaysMs: { weak: 0, strong: 300 } })),
    weakLevelFails: {
      'come late': () => open(codec, memory({ delaysMs: { weak: 200, strong: 1 } })),
    },
  });
}
