/** Who else takes from queues: as the reader's server has it, and nothing while that is not known. */
import { expect, test } from 'vitest';
import { computeMaxConcurrentWrites } from '../../../../src/correctable/throttle/concurrent-writes.ts';
import { ZooKeeperError } from '../../../../src/bindings/zookeeper/client/errors.ts';
import type { SessionState } from '../../../../src/bindings/zookeeper/client/zookeeper-session.ts';
import type { ZooKeeper } from '../../../../src/bindings/zookeeper/client/zookeeper.ts';
import { Paths } from '../../../../src/bindings/zookeeper/paths.ts';
import { ConsumerRegistry } from '../../../../src/bindings/zookeeper/consumer-registry.ts';
import type { SessionPair } from '../../../../src/bindings/zookeeper/session-pair.ts';

/** The consumers of a server, with what each says of itself; undefined before the first has come. */
class Server {
  consumers: Map<string, string | null> | undefined;
  looks = 0;
  fails = false;
  #watches: (() => void)[] = [];

  /** Somebody comes or goes. */
  change(consumers: Readonly<Record<string, string | null>>): void {
    this.consumers = new Map(Object.entries(consumers));
    for (const tell of this.#watches.splice(0)) tell();
  }

  client(): ZooKeeper {
    const watched = <T>(path: string, watch: () => void, value: T | undefined): T => {
      this.looks += 1;
      if (this.fails) throw new ZooKeeperError('NO_AUTH', { path });
      if (value === undefined) throw new ZooKeeperError('NO_NODE', { path });
      this.#watches.push(watch);
      return value;
    };
    const zk = {
      sync: async () => {},
      children: async (path: string, { watch }: { watch: () => void }) =>
        watched(path, watch, this.consumers && { children: [...this.consumers.keys()] }),
      exists: async (_path: string, { watch }: { watch: () => void }) => {
        this.#watches.push(watch);
        return this.consumers === undefined ? null : {};
      },
      get: async (path: string) => {
        const data = this.consumers?.get(path.slice(path.lastIndexOf('/') + 1));
        if (data === undefined) throw new ZooKeeperError('NO_NODE', { path });
        return { data: data === null ? null : Buffer.from(data) };
      },
    };
    return zk as unknown as ZooKeeper;
  }
}

function open(): {
  server: Server;
  sellers: ConsumerRegistry;
  writer: { state: SessionState };
  replaceReader: () => void;
} {
  const server = new Server();
  let reader = server.client();
  const persist = async (_role: string, request: (zk: ZooKeeper) => unknown): Promise<unknown> => request(reader);
  const writer: { state: SessionState } = { state: 'connected' };
  const sessions = {
    consumer: 'me',
    writer,
    persist,
    get reader() {
      return reader;
    },
  };
  const sellers = new ConsumerRegistry(sessions as unknown as SessionPair, new Paths('/shop'));
  return { server, sellers, writer, replaceReader: () => void (reader = server.client()) };
}

const pace = JSON.stringify({ window: 5, turnMs: 40 });
const agreed = (sellers: ConsumerRegistry): void => sellers.commitLatency.end(sellers.commitLatency.begin(0), 30);

test('sellers: not looked yet → nothing is known, and a look begins', async () => {
  const { server, sellers } = open();
  server.change({ me: pace });
  expect(sellers.concurrentWriters).toBeUndefined();
  await sellers.refresh();
  expect(sellers.concurrentWriters).toEqual({ withinMs: 0, others: [] });
  expect(server.looks).toBe(1);
});

test('sellers: others → their paces, once it is known how long agreement takes', async () => {
  const { server, sellers } = open();
  server.change({ me: pace, ann: pace, bob: JSON.stringify({ window: 1, turnMs: 0 }) });
  await sellers.refresh();
  expect(sellers.concurrentWriters).toBeUndefined();
  agreed(sellers);
  expect(sellers.concurrentWriters?.throttles).toEqual([
    { window: 5, turnMs: 40 },
    { window: 1, turnMs: 0 },
  ]);
});

test.each([null, '', 'x', '{}', '{"window":-1,"turnMs":40}', '{"window":5}'])(
  'sellers: one that says %j of itself → no bound',
  async (data) => {
    const { server, sellers } = open();
    server.change({ me: pace, ann: data });
    await sellers.refresh();
    agreed(sellers);
    expect(computeMaxConcurrentWrites(sellers.concurrentWriters ?? expect.fail())).toBe(Infinity);
  },
);

test('sellers: somebody comes → nothing is known until looked again', async () => {
  const { server, sellers } = open();
  agreed(sellers);
  expect(await sellers.getMinThreshold()).toBe(0);
  server.change({ me: pace });
  expect(sellers.concurrentWriters).toBeUndefined();
  expect(await sellers.getMinThreshold()).toBe(0);
  server.change({ me: pace, ann: pace });
  expect(sellers.concurrentWriters).toBeUndefined();
  expect(await sellers.getMinThreshold()).toBe(15);
});

test('sellers: somebody comes during the look → it does not count', async () => {
  const { server, sellers } = open();
  server.change({ me: pace });
  const look = sellers.refresh();
  await Promise.resolve();
  server.change({ me: pace, ann: pace });
  await look;
  expect(sellers.concurrentWriters).toBeUndefined();
});

test('sellers: the reader was replaced → looked again, for its watch is gone', async () => {
  const { server, sellers, replaceReader } = open();
  server.change({ me: pace });
  await sellers.refresh();
  replaceReader();
  expect(sellers.concurrentWriters).toBeUndefined();
  await sellers.refresh();
  expect(sellers.concurrentWriters?.throttles).toEqual([]);
});

test.each([{ me: pace }, { me: pace, ann: pace }])(
  'sellers: of %j, the writer is not connected → nothing is known, for claims wait',
  async (consumers) => {
    const { server, sellers, writer } = open();
    server.change(consumers);
    agreed(sellers);
    await sellers.refresh();
    writer.state = 'connecting';
    expect(sellers.concurrentWriters).toBeUndefined();
    expect(await sellers.getMinThreshold()).toBe(Infinity);
    writer.state = 'connected';
    expect(sellers.concurrentWriters).toBeDefined();
  },
);

test('sellers: the look fails → nothing is known, and the next one looks again', async () => {
  const { server, sellers } = open();
  server.change({ me: pace });
  server.fails = true;
  await sellers.refresh();
  expect(await sellers.getMinThreshold()).toBe(Infinity);
  server.fails = false;
  expect(await sellers.getMinThreshold()).toBe(0);
});
