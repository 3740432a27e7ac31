/**
 * Who else takes from queues: as the reader's server has it, and nothing while that is not known.
 */
import { expect, test } from 'vitest';
import { computeMaxConcurrentWrites } from '../../../../src/correctable/throttle/concurrent-writes.ts';
import { ZooKeeperError } from '../../../../src/bindings/zookeeper/client/errors.ts';
import type { SessionState } from '../../../../src/bindings/zookeeper/client/zookeeper-session.ts';
import type { ZooKeeper } from '../../../../src/bindings/zookeeper/client/zookeeper.ts';
import { Paths } from '../../../../src/bindings/zookeeper/paths.ts';
import { ConsumerRegistry } from '../../../../src/bindings/zookeeper/consumer-registry.ts';
import type { SessionPair } from '../../../../src/bindings/zookeeper/session-pair.ts';

/** The consumers of a server, each with its data; undefined before the first has come. */
class Server {
  consumers: Map<string, string | null> | undefined;
  looks = 0;
  fails = false;
  #watches: (() => void)[] = [];

  /** Consumers come or go. */
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
  registry: ConsumerRegistry;
  writer: { state: SessionState };
  replaceReader: () => void;
} {
  const server = new Server();
  let reader = server.client();
  const retryLost = async (_role: string, request: (zk: ZooKeeper) => unknown): Promise<unknown> =>
    request(reader);
  const writer: { state: SessionState } = { state: 'connected' };
  const sessions = {
    consumerId: 'me',
    writer,
    retryLost,
    get reader() {
      return reader;
    },
  };
  const registry = new ConsumerRegistry(sessions as unknown as SessionPair, new Paths('/shop'));
  return { server, registry, writer, replaceReader: () => void (reader = server.client()) };
}

const pace = JSON.stringify({ maxInFlight: 5, minSlotIntervalMs: 40 });
const agreed = (registry: ConsumerRegistry): void =>
  registry.commitLatency.end(registry.commitLatency.begin(0), 30);

test('consumers: not looked yet → nothing is known, and a look begins', async () => {
  const { server, registry } = open();
  server.change({ me: pace });
  expect(registry.concurrentWriters).toBeUndefined();
  await registry.refresh();
  expect(registry.concurrentWriters).toEqual({ commitLatencyMs: 0, throttles: [] });
  expect(server.looks).toBe(1);
});

test('consumers: others → their paces, once it is known how long agreement takes', async () => {
  const { server, registry } = open();
  server.change({
    me: pace,
    ann: pace,
    bob: JSON.stringify({ maxInFlight: 1, minSlotIntervalMs: 0 }),
  });
  await registry.refresh();
  expect(registry.concurrentWriters).toBeUndefined();
  agreed(registry);
  expect(registry.concurrentWriters?.throttles).toEqual([
    { maxInFlight: 5, minSlotIntervalMs: 40 },
    { maxInFlight: 1, minSlotIntervalMs: 0 },
  ]);
});

test.each([null, '', 'x', '{}', '{"maxInFlight":-1,"minSlotIntervalMs":40}', '{"maxInFlight":5}'])(
  'consumers: one with the data %j → no bound',
  async (data) => {
    const { server, registry } = open();
    server.change({ me: pace, ann: data });
    await registry.refresh();
    agreed(registry);
    expect(computeMaxConcurrentWrites(registry.concurrentWriters ?? expect.fail())).toBe(Infinity);
  },
);

test('consumers: another one comes → nothing is known until the next refresh', async () => {
  const { server, registry } = open();
  agreed(registry);
  expect(await registry.getMinThreshold()).toBe(0);
  server.change({ me: pace });
  expect(registry.concurrentWriters).toBeUndefined();
  expect(await registry.getMinThreshold()).toBe(0);
  server.change({ me: pace, ann: pace });
  expect(registry.concurrentWriters).toBeUndefined();
  expect(await registry.getMinThreshold()).toBe(15);
});

test('consumers: another one comes during a refresh → that refresh does not count', async () => {
  const { server, registry } = open();
  server.change({ me: pace });
  const look = registry.refresh();
  await Promise.resolve();
  server.change({ me: pace, ann: pace });
  await look;
  expect(registry.concurrentWriters).toBeUndefined();
});

test('consumers: the reader was replaced → looked again, for its watch is gone', async () => {
  const { server, registry, replaceReader } = open();
  server.change({ me: pace });
  await registry.refresh();
  replaceReader();
  expect(registry.concurrentWriters).toBeUndefined();
  await registry.refresh();
  expect(registry.concurrentWriters?.throttles).toEqual([]);
});

test.each([{ me: pace }, { me: pace, ann: pace }])(
  'consumers: of %j, the writer is not connected → nothing is known, for claims wait',
  async (consumers) => {
    const { server, registry, writer } = open();
    server.change(consumers);
    agreed(registry);
    await registry.refresh();
    writer.state = 'connecting';
    expect(registry.concurrentWriters).toBeUndefined();
    expect(await registry.getMinThreshold()).toBe(Infinity);
    writer.state = 'connected';
    expect(registry.concurrentWriters).toBeDefined();
  },
);

test('consumers: the look fails → nothing is known, and the next one looks again', async () => {
  const { server, registry } = open();
  server.change({ me: pace });
  server.fails = true;
  await registry.refresh();
  expect(await registry.getMinThreshold()).toBe(Infinity);
  server.fails = false;
  expect(await registry.getMinThreshold()).toBe(0);
});
