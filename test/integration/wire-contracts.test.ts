/** A client with a contract and a gateway: the same contract on both ends, or none of it. */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod/mini';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type Operation } from '../../src/index.ts';
import { put } from '../../src/operations/index.ts';
import { LEVELS, RawClient, startGateway, StoreDouble } from '../support/wire.ts';

const contract = defineContract('shop', {
  ...keyValueOperations,
  price: { access: 'read', args: z.object({ item: z.string() }), result: z.number() },
});

function answering(): StoreDouble {
  const store = new StoreDouble();
  store.answer = ({ sink, operation }) => sink.view(operation.args, 'strong');
  return store;
}

const clientOf = (url: string, value = contract) =>
  createClient(remote({ url, levels: LEVELS, contract: value, WebSocket }));

test('contract: the same on both ends → operations by their names, typed', async () => {
  await using gateway = await startGateway({ store: answering(), contract });
  const client = clientOf(gateway.url);
  expect(await client.invokeStrong(contract.price({ item: 'tea' }))).toEqual({ item: 'tea' });
  expect(await client.invokeStrong(put('k', 1))).toEqual({ key: 'k', value: 1 });
  await client.close();
});

const otherKey = [1, 'submit', 'get', 'read', 2, { key: 'ada/notes' }, 'eve/notes'];

test.each([
  ['with a contract → it is that of the arguments', contract, 'ada/notes'],
  ['without one → it is what the client claims', undefined, 'eve/notes'],
])('key of a submission that is not of its arguments, at a gateway %s', async (_, value, key) => {
  const requested: unknown[] = [];
  const authorize = (__: unknown, operation: Operation): boolean =>
    requested.push(operation.key) > 0;
  await using gateway = await startGateway({ store: answering(), contract: value, authorize });
  await using client = await RawClient.greeted(gateway.url);
  client.send(otherKey);
  expect(await client.row()).toEqual([1, 'view', 1, 0, { key: 'ada/notes' }]);
  expect([requested, gateway.store.submitted[0]?.operation.key]).toEqual([[key], key]);
});
