/** What a binding knows of a queue: estimates err to the safe side, and guesses adapt to how often they come true. */
import { expect, test } from 'vitest';
import { ZooKeeperError } from '../../../../../src/bindings/zookeeper/client/errors.ts';
import type { ZooKeeper } from '../../../../../src/bindings/zookeeper/client/zookeeper.ts';
import { QueuePaths } from '../../../../../src/bindings/zookeeper/paths.ts';
import { QueueState } from '../../../../../src/bindings/zookeeper/queue/queue.ts';
import { Window } from '../../../../../src/bindings/zookeeper/queue/window.ts';

/** A server in whose state so many items and claims were made, none removed. */
class Server {
  items = 0;
  claims = 0;
  /** Of the nodes: another one once they were made anew. */
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

test('left: claims under way → counted until they have a number, then by it', async () => {
  const { server, queue } = open(10);
  expect(queue.left).toBeUndefined();
  await queue.count(server.zk);
  const claims = [queue.beginClaim(), queue.beginClaim(), queue.beginClaim()];
  expect(queue.left).toBe(7);
  expect(claims.map((claim) => queue.claimsBefore(claim))).toEqual([0, 1, 2]);
  queue.endClaim(claims[0]!, 0);
  queue.endClaim(claims[1]!);
  expect(queue.left).toBe(8);
  expect(queue.claimsBefore(claims[2])).toBe(0);
});

test('count: a server that lags behind what is known → what is known', async () => {
  const { server, queue } = open(10);
  queue.endClaim(queue.beginClaim(), 4);
  expect(await queue.count(server.zk)).toMatchObject({ head: 5, tail: 10 });
  expect(await queue.countSynced(Object.assign(server.zk, { sync: async () => {} }))).toMatchObject({ head: 0 });
});

test('guess: predictions that come true → the very item, read once', async () => {
  const { server, queue } = open(200);
  const guess = (number: number) => queue.guessItem(server.zk, { number, tail: 200 });
  expect((await guess(3))?.number).toBe(3);
  expect((await queue.known(3))?.number).toBe(3);
  await guess(3);
  expect(server.reads).toEqual([3]);
});

test('guess: predictions that fail → one stand-in for many, until it is taken; then predictions again', async () => {
  const { server, queue } = open(200);
  const guess = async (number: number) => (await queue.guessItem(server.zk, { number, tail: 200 }))?.number;
  for (let n = 0; n < 4; n += 1) queue.learn(false);
  expect([await guess(0), await guess(1), await guess(199)]).toEqual([199, 199, 199]);
  server.items = 300;
  expect((await queue.guessItem(server.zk, { number: 200, tail: 300 }))?.number).toBe(299);
  expect(server.reads).toEqual([199, 299]);
  queue.learn(true);
  expect(await guess(7)).toBe(299);
  for (let n = 0; n < 4; n += 1) queue.learn(true);
  expect(await guess(7)).toBe(7);
});

test('guess: an item that is not there → undefined, and asked for again', async () => {
  const { server, queue } = open(2);
  expect(await queue.guessItem(server.zk, { number: 2, tail: 3 })).toBeUndefined();
  server.items = 3;
  expect((await queue.guessItem(server.zk, { number: 2, tail: 3 }))?.number).toBe(2);
});

test('window: full → the others one by one, in the order in which they came', async () => {
  const window = new Window(2);
  expect([window.enter(), window.enter()]).toEqual([undefined, undefined]);
  const order: string[] = [];
  const third = window.enter()?.then(() => order.push('third'));
  const fourth = window.enter()?.then(() => order.push('fourth'));
  window.leave();
  await third;
  expect(order).toEqual(['third']);
  window.leave();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
  window.leave();
  window.leave();
  expect(window.enter()).toBeUndefined();
});

test('an item that a server which lags brought ahead → not taken for one of a queue that was made anew', async () => {
  const { server, queue } = open(10);
  const item = await queue.readAhead(server.zk, 3);
  if (item === undefined) throw new Error('there is no item');
  const old = { ...item, czxid: 20n };
  expect(queue.isOfThisQueue(old, 30n)).toBe(true);
  queue.renew();
  expect(queue.isOfThisQueue(old, 30n)).toBe(false);
  expect(queue.isOfThisQueue({ ...item, czxid: 31n }, 40n)).toBe(true);
});
