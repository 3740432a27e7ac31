/** Reader and writer of one binding at two servers, one ahead of the other, as happens behind one name or in a fail-over. */
import { expect, test } from 'vitest';
import { length } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { ITEMS, open, QUEUE, sale, stock } from '../set-up.ts';

test('the reader has seen an item that the writer’s server has not → it is brought, not given up', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  const [ahead, behind] = [ensemble.at(0), ensemble.at(1)];
  await using other = open(ensemble, { servers: ahead.address });
  await stock(other, 2);
  // There is room for one connection only: the second one of the binding goes elsewhere.
  behind.connectionsMax = 1;
  await using shop = open(ensemble, { servers: `${behind.address},${ahead.address}` });
  await shop.binding.connected();
  expect(behind.connections.size).toBe(1);
  expect(await sale(shop)).toBe('T0');
  expect(await sale(other)).toBe('T1');
  behind.fromLeader.delayMs = 50;
  const late = sale(shop);
  await expect.poll(() => ensemble.leader.tree.nodes.get(`/correctables/queues/${QUEUE}/c`)?.creates).toBe(3);
  await stock(other, 1);
  expect(await shop.client.invokeWeak(length(QUEUE))).toBe(0);
  expect(await late).toBe('T0');
  await expect.poll(() => ensemble.children(ITEMS)).toEqual([]);
});
