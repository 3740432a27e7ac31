/**
 * Closing a binding while servers do not answer: it waits two seconds for updates, and as long to
 * say goodbye.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { enqueue, put } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { come, cutOff, open, outcomeOf, QUEUE, sale, stock } from '../set-up.ts';

test('what was sent and is not answered in time → UNKNOWN; what was not → UNAVAILABLE, not to be retried', async () => {
  await using ensemble = await FakeEnsemble.start();
  const shop = open(ensemble, { maxInFlight: 1 });
  await stock(shop, 2);
  expect(await sale(shop)).toBe('T0');
  ensemble.leader.agreement.hold();
  const { client } = shop;
  ensemble.server.requests.length = 0;
  const reported = [
    sale(shop),
    outcomeOf(client.invokeStrong(enqueue(QUEUE, 'T9'))),
    outcomeOf(client.invokeStrong(put('k', 1))),
    sale(shop),
  ];
  await come(ensemble.server, 3, ({ type }) => type === OP.create || type === OP.setData);
  await client.close();
  expect(await Promise.all(reported)).toEqual(['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNAVAILABLE']);
});

test('without a connection: nothing was sent → UNAVAILABLE, not to be retried here', async () => {
  await using ensemble = await FakeEnsemble.start();
  const shop = open(ensemble);
  await stock(shop, 1);
  await cutOff(ensemble.server);
  const reported = [sale(shop), outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, 'T9')))];
  await new Promise((resolve) => setImmediate(resolve));
  await shop.client.close();
  expect(await Promise.all(reported)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
});
