/**
 * Reader and writer of one binding at two servers, one ahead of the other, as happens behind one
 * name or in a fail-over.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import type { Operation } from '../../../../../src/index.ts';
import { queueLength } from '../../../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue, get, put } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, ITEMS, open, pause, QUEUE, sale, stock, findLastWriter } from '../set-up.ts';

test('the reader has seen an item that the writer’s server has not → it is brought, not given up', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  const [ahead, behind] = [ensemble.at(0), ensemble.at(1)];
  await using other = open(ensemble, { servers: ahead.address });
  await stock(other, 2);
  // There is room for one connection only: the second one of the binding goes elsewhere.
  behind.connectionsMax = 1;
  await using shop = open(ensemble, { servers: `${behind.address},${ahead.address}` });
  await shop.binding.whenConnected();
  expect(behind.connections.size).toBe(1);
  expect(await sale(shop)).toBe('T0');
  expect(await sale(other)).toBe('T1');
  behind.fromLeader.delayMs = 50;
  const late = sale(shop);
  await expect
    .poll(() => ensemble.leader.tree.nodes.get(`/correctables/queues/${QUEUE}/c`)?.creates)
    .toBe(3);
  await stock(other, 1);
  expect(await shop.client.invokeWeak(queueLength(QUEUE))).toBe(0);
  expect(await late).toBe('T0');
  await expect.poll(() => ensemble.children(ITEMS)).toEqual([]);
});

test.each([
  ['a value', put('k', 'new'), get('k'), 'new'],
  ['a length', enqueue(QUEUE, 'T0'), queueLength(QUEUE), 1],
])(
  '%s read in a session behind its own write, a later answer in the same piece → not the old one',
  async (...row) => {
    const [, write, read, expected] = row;
    await using ensemble = await FakeEnsemble.start(2);
    const [near, far] = [ensemble.at(0), ensemble.at(1)];
    near.connectionsMax = 1;
    await using shop = open(ensemble, { servers: `${near.address},${far.address}` });
    await shop.binding.whenConnected();
    await shop.client.invokeStrong(put('k', 'old'));
    await expect.poll(() => far.tree.zxid).toBe(near.tree.zxid);
    const session = shop.client.session();
    far.fromLeader.hold();
    await shop.client.invokeStrong(write as Operation<unknown>, { session });
    const [reader] = far.connections;
    reader?.cork();
    const [before, requested] = [far.requests.length, (): number => far.requests.length];
    const reading = shop.client.invokeWeak(read as Operation<unknown>, { session });
    await expect.poll(requested).toBeGreaterThan(before);
    far.fromLeader.release();
    await expect.poll(() => far.tree.zxid).toBe(near.tree.zxid);
    const between = requested();
    const later = shop.client.invokeWeak(get('other'));
    await expect.poll(requested).toBeGreaterThan(between);
    reader?.uncork();
    await later;
    expect(await reading).toBe(expected);
  },
);

test('a claim wins an item after its dequeue has returned null → the dequeue in flight gets the item', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  const [near, far] = [ensemble.at(0), ensemble.at(1)];
  await using seller = open(ensemble, { servers: near.address });
  await seller.binding.whenConnected();
  await stock(seller, 1);
  near.connectionsMax = near.connections.size + 1;
  await using shop = open(ensemble, { servers: `${near.address},${far.address}` });
  await shop.binding.whenConnected();
  expect([await sale(shop), await sale(shop)]).toEqual(['T0', null]);
  far.fromLeader.hold();
  await stock(seller, 1);
  let second: Promise<unknown> | undefined;
  near.onRequest = ({ type, path }) => {
    if (second !== undefined || type !== OP.create || !path.startsWith(CLAIMS)) return undefined;
    near.toLeader.hold();
    second = sale(shop);
    return undefined;
  };
  const first = shop.client.invokeWeak(dequeue(QUEUE));
  await expect.poll(() => second === undefined).toBe(false);
  // By now the second one has asked the reader, and waits for the claim of the first.
  await pause(50);
  near.toLeader.release();
  expect(await first).toBeNull();
  expect(await second).toBe('T0');
  far.fromLeader.release();
});

test('the reader’s connection ends, and the other server has not what the writer has written → goes on where it has', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  const [near, far] = [ensemble.at(0), ensemble.at(1)];
  far.connectionsMax = 0;
  await using shop = open(ensemble);
  await shop.binding.whenConnected();
  await shop.client.invokeStrong(put('k', 'old'));
  await expect.poll(() => far.tree.zxid).toBe(near.tree.zxid);
  far.fromLeader.hold();
  await shop.client.invokeStrong(put('k', 'new'));
  far.connectionsMax = Infinity;
  near.connectionsMax = 1;
  const writer = findLastWriter(ensemble);
  for (const connection of near.connections) if (connection.session !== writer) connection.cut();
  await expect.poll(() => far.greetings.length).toBeGreaterThan(0);
  expect(far.greetings[0]).toMatchObject({ isAccepted: false });
  near.connectionsMax = Infinity;
  expect(await shop.client.invokeWeak(get('k'))).toBe('new');
});
