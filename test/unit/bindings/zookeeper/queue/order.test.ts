/** The order of one client's enqueues, on the first use of a queue and when it is created again. */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { enqueue } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { drain, ITEMS, open, outcomeOf, pause, QUEUE, type Shop } from '../set-up.ts';

const COUNT = 20;

/** Enqueues one item a millisecond, without waiting. */
async function enqueueAll({ client }: Shop): Promise<unknown[]> {
  const reported: Promise<unknown>[] = [];
  for (let n = 0; n < COUNT; n += 1) {
    reported.push(outcomeOf(client.invokeStrong(enqueue(QUEUE, `T${n}`))));
    await pause(1);
  }
  return Promise.all(reported);
}

const inOrder = Array.from({ length: COUNT }, (_, n) => `T${n}`);

test('a queue that is not there yet → in the order in which they were handed in', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 4, fromLeaderMs: 4 });
  await using shop = open(ensemble);
  await enqueueAll(shop);
  expect(await drain(shop)).toEqual(inOrder);
});

test('some find no queue while others are in flight → made again, each added once', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 4, fromLeaderMs: 4 });
  await using shop = open(ensemble);
  await shop.client.invokeStrong(enqueue(QUEUE, 'first'));
  await drain(shop);
  let answers = 0;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.create || !path.startsWith(`${ITEMS}/`)) return undefined;
    answers += 1;
    return answers > 5 && answers <= 15 ? { error: -101 } : undefined;
  };
  await enqueueAll(shop);
  ensemble.server.onRequest = undefined;
  const sold = await drain(shop);
  expect(sold.slice(0, 5)).toEqual(inOrder.slice(0, 5));
  expect(sold.toSorted()).toEqual(inOrder.toSorted());
});

test('the queue cannot be created → every enqueue fails with the cause, and none was added', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  ensemble.server.onRequest = ({ path }) => (path === ITEMS ? { error: -102 } : undefined);
  const reported = await Promise.all(
    [1, 2, 3].map((item) => outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, item)))),
  );
  expect(reported).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
  ensemble.server.onRequest = undefined;
  expect(await outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, 'T')))).toBeUndefined();
});
