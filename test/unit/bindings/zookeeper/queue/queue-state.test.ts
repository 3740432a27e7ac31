/**
 * What a binding knows of a queue: estimates err to the safe side, and guesses adapt to how often
 * they come true.
 */
import { expect, test } from 'vitest';
import { ZooKeeperError } from '../../../../../src/bindings/zookeeper/client/errors.ts';
import type { ZooKeeper } from '../../../../../src/bindings/zookeeper/client/zookeeper.ts';
import { QueuePaths } from '../../../../../src/bindings/zookeeper/paths.ts';
import { QueueState } from '../../../../../src/bindings/zookeeper/queue/queue-state.ts';
import { ThrottleGate } from '../../../../../src/bindings/shared/throttle-gate.ts';

/** A server in whose state so many items and claims were made, none removed. */
class Server {
  items = 0;
  claims = 0;
  /** The id of the nodes: another one once they were created again. */
  czxid = 1n;
  readonly reads: number[] = [];

  get zk(): ZooKeeper {
    const zk = {
      lastZxid: 1n,
      exists: async (path: string) => {
        const count = path.endsWith('/i') ? this.items : this.claims;
        return { czxid: this.czxid, cversion: count, numChildren: count };
      },
      get: async (path: string) => {
        const number = Number(path.slice(path.lastIndexOf('-') + 1));
        this.reads.push(number);
        if (number >= this.items) throw new ZooKeeperError('NO_NODE', { path });
        return { data: Uint8Array.of(number), stat: {} };
      },
    };
    return zk as unknown as ZooKeeper;
  }
}

function open(items: number): { server: Server; queue: QueueState } {
  const server = new Server();
  server.items = items;
  return { server, queue: new QueueState(new QueuePaths('/q')) };
}

test('left: claims in flight → counted until they have a number, then by it', async () => {
  const { server, queue } = open(10);
  expect(queue.remaining).toBeUndefined();
  await queue.readBounds(server.zk);
  const claims = [queue.beginClaim(), queue.beginClaim(), queue.beginClaim()];
  expect(queue.remaining).toBe(7);
  expect(claims.map((claim) => queue.countClaimsBefore(claim))).toEqual([0, 1, 2]);
  queue.endClaim(claims[0]!, 0);
  queue.endClaim(claims[1]!);
  expect(queue.remaining).toBe(8);
  expect(queue.countClaimsBefore(claims[2])).toBe(0);
});

test('count: a server that lags behind what is known → what is known', async () => {
  const { server, queue } = open(10);
  queue.endClaim(queue.beginClaim(), 4);
  expect(await queue.readBounds(server.zk)).toMatchObject({ head: 5, tail: 10 });
  expect(
    await queue.readSyncedBounds(Object.assign(server.zk, { sync: async () => {} })),
  ).toMatchObject({ head: 0 });
});

test('guess: predictions that come true → the very item, read once', async () => {
  const { server, queue } = open(200);
  const guess = (number: number) => queue.readPreliminaryItem(server.zk, { number, tail: 200 });
  expect((await guess(3))?.number).toBe(3);
  expect((await queue.getReadAhead(3))?.number).toBe(3);
  await guess(3);
  expect(server.reads).toEqual([3]);
});

test('guess: predictions that fail → one stand-in for many, until it is taken; then predictions again', async () => {
  const { server, queue } = open(200);
  const guess = async (number: number) =>
    (await queue.readPreliminaryItem(server.zk, { number, tail: 200 }))?.number;
  for (let n = 0; n < 4; n += 1) queue.recordPrediction(false);
  expect([await guess(0), await guess(1), await guess(199)]).toEqual([199, 199, 199]);
  server.items = 300;
  expect((await queue.readPreliminaryItem(server.zk, { number: 200, tail: 300 }))?.number).toBe(
    299,
  );
  expect(server.reads).toEqual([199, 299]);
  queue.recordPrediction(true);
  expect(await guess(7)).toBe(299);
  for (let n = 0; n < 4; n += 1) queue.recordPrediction(true);
  expect(await guess(7)).toBe(7);
});

test('guess: an item that is not there → undefined, and asked for again', async () => {
  const { server, queue } = open(2);
  expect(await queue.readPreliminaryItem(server.zk, { number: 2, tail: 3 })).toBeUndefined();
  server.items = 3;
  expect((await queue.readPreliminaryItem(server.zk, { number: 2, tail: 3 }))?.number).toBe(2);
});

test('window: full → the others one by one, in the order in which they came', async () => {
  const window = new ThrottleGate({ maxInFlight: 2, minSlotIntervalMs: 0 }, () => 0);
  const context = { signal: new AbortController().signal, deadlineAt: undefined };
  expect([window.enter(context), window.enter(context)]).toEqual([undefined, undefined]);
  const order: string[] = [];
  const third = window.enter(context)?.then(() => order.push('third'));
  const fourth = window.enter(context)?.then(() => order.push('fourth'));
  window.release(0);
  await third;
  expect(order).toEqual(['third']);
  window.release(0);
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
  window.release(0);
  window.release(0);
  expect(window.enter(context)).toBeUndefined();
});

test('an item that a lagging server read ahead → not taken for one of a queue that was created again', async () => {
  const { server, queue } = open(10);
  const item = await queue.readAhead(server.zk, 3);
  if (item === undefined) throw new Error('there is no item');
  const old = { ...item, czxid: 20n };
  expect(queue.isOfThisQueue(old, 30n)).toBe(true);
  queue.reset();
  expect(queue.isOfThisQueue(old, 30n)).toBe(false);
  expect(queue.isOfThisQueue({ ...item, czxid: 31n }, 40n)).toBe(true);
});
