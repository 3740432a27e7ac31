/** A store behind an HTTP handler keeps the promises of a binding, over a real server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '../../src/bindings/http/index.ts';
import { memory } from '../../src/bindings/memory/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import { httpHandler } from '../../src/http/index.ts';
import type { OpenedBinding } from '../../src/testing/binding-conformance.ts';
import { runConformance } from '../support/run-conformance.ts';

const contract = defineContract('values', { ...keyValueOperations });

async function open(readMethod: 'GET' | 'POST', store = memory()): Promise<OpenedBinding> {
  const handle = httpHandler(contract, store, { onError: () => {} });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const levels = store.consistencyLevels();
  const connect = () => http(contract, { url: `http://127.0.0.1:${port}/api`, levels, readMethod });
  return {
    binding: connect(),
    secondBinding: async () => connect(),
    async release() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await store.close();
    },
  };
}

for (const readMethod of ['GET', 'POST'] as const) {
  runConformance({
    name: `http(httpHandler(memory)) with ${readMethod}`,
    createBinding: () => open(readMethod),
    write: contract.put({ key: 'k', value: { n: 1 } }),
    read: contract.get({ key: 'k' }),
    expected: { n: 1 },
    slowBinding: () => open(readMethod, memory({ delaysMs: { weak: 0, strong: 300 } })),
    weakLevelFails: {
      'come late': () => open(readMethod, memory({ delaysMs: { weak: 200, strong: 1 } })),
    },
  });
}
