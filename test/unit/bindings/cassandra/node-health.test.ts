/** Nodes that answer nothing although requests wait: noticed, probed, and asked last. */
import cassandraDriver from 'cassandra-driver';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCoordinatorPolicy } from '../../../../src/bindings/cassandra/driver-policies.ts';
import type { DriverHost } from '../../../../src/bindings/cassandra/driver.ts';
import { Execution } from '../../../../src/bindings/cassandra/execution.ts';
import { NodeHealth } from '../../../../src/bindings/cassandra/node-health.ts';

const A = '10.0.0.1:9042';

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }),
);
afterEach(() => void vi.useRealTimers());

function open(probe: () => Promise<void> = () => Promise.reject(new Error('no answer'))) {
  const probed: string[] = [];
  const closed: string[] = [];
  const unlisted = new Set<string>();
  const health = new NodeHealth({
    maxSilenceMs: 1_000,
    isListed: (address) => !unlisted.has(address),
    probe: (address) => {
      probed.push(address);
      return { answer: probe(), closeConnection: () => closed.push(address) };
    },
  });
  const begin = (): Execution => {
    const execution = new Execution({ isWrite: false });
    execution.begin(health);
    return execution;
  };
  return { health, probed, closed, unlisted, begin };
}

/** Lets time pass in steps, as the event loop does. */
async function pass(ms: number): Promise<void> {
  for (let n = 0; n < ms; n += 50) {
    vi.advanceTimersByTime(50);
    await Promise.resolve();
  }
}

test('a node that answers neither its request nor a probe → silent and without its connection, until it answers anything', async () => {
  const { health, probed, closed, begin } = open();
  const execution = begin();
  execution.moveTo(A);
  await pass(400);
  expect([probed, health.isSilent(A)]).toEqual([[], false]);
  await pass(400);
  expect([probed.length > 0, closed]).toEqual([true, []]);
  await pass(300);
  expect(closed.length).toBeGreaterThan(0);
  expect(health.isSilent(A)).toBe(true);
  execution.end();
  expect(health.isSilent(A)).toBe(false);
});

test.each([
  ['rows', () => Promise.resolve()],
  [
    'an error of the node',
    () => Promise.reject(Object.assign(new Error('overloaded'), { code: 0x1001 })),
  ],
])(
  'slow statements, and the probe is answered by %s → not silent, and the connection stays',
  async (_, probe) => {
    const { health, probed, closed, begin } = open(probe);
    for (let n = 0; n < 5; n += 1) begin().moveTo(A);
    await pass(5_000);
    expect(health.isSilent(A)).toBe(false);
    expect(probed.length).toBeGreaterThan(1);
    expect(closed).toEqual([]);
  },
);

test('a silent node leaves the list → not probed any more, and the checks end', async () => {
  const { health, probed, unlisted, begin } = open();
  const execution = begin();
  execution.moveTo(A);
  await pass(1_100);
  execution.end(new Error('timed out'));
  expect(health.isSilent(A)).toBe(true);
  unlisted.add(A);
  await pass(500);
  const count = probed.length;
  await pass(2_000);
  expect([probed.length, vi.getTimerCount()]).toEqual([count, 0]);
  expect(health.isSilent(A)).toBe(false);
});

test('an error of the node is an answer, a lost connection is none', async () => {
  for (const [error, isSilent] of [
    [Object.assign(new Error('read timeout'), { code: 0x1200 }), false],
    [Object.assign(new Error('closed'), { isSocketError: true }), true],
  ] as const) {
    const { health, begin } = open();
    const [waiting, other] = [begin(), begin()];
    waiting.moveTo(A);
    await pass(1_100);
    other.moveTo(A);
    other.end(error);
    expect(health.isSilent(A)).toBe(isSilent);
  }
});

test('silent, and nothing is sent any more → probed until it answers, then the checks end', async () => {
  let isBack = false;
  const { health, probed, begin } = open(() =>
    isBack ? Promise.resolve() : Promise.reject(new Error('no')),
  );
  const execution = begin();
  execution.moveTo(A);
  await pass(1_100);
  execution.end(new Error('timed out'));
  await pass(1_000);
  expect(health.isSilent(A)).toBe(true);
  isBack = true;
  await pass(500);
  expect(health.isSilent(A)).toBe(false);
  const count = probed.length;
  await pass(2_000);
  expect(probed.length).toBe(count);
  expect(vi.getTimerCount()).toBe(0);
});

test('this process stalls → the time does not count, since the answer may be unread', async () => {
  const { health, begin } = open();
  begin().moveTo(A);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
  await pass(300);
  expect(health.isSilent(A)).toBe(false);
  vi.restoreAllMocks();
});

test('coordinators: a silent node comes last, and is first again when it answers', async () => {
  let isSilent = true;
  const points = [
    { host: '10.0.0.1', port: 9042 },
    { host: '10.0.0.2', port: 9042 },
  ];
  const policy = createCoordinatorPolicy(cassandraDriver as never, points, {
    health: { isSilent: (address) => isSilent && address === A },
    lookUp: (host) => Promise.resolve({ address: host }),
  });
  const hosts = points.map(({ host, port }): DriverHost => ({ address: `${host}:${port}` }));
  const { init } = policy as unknown as {
    init(client: object, hosts: object, done: () => void): void;
  };
  await new Promise<void>((done) => init.call(policy, {}, { values: () => hosts }, done));
  const order = (): string[] => policy.listNodes().map(({ address }) => address);
  expect(order()).toEqual(['10.0.0.2:9042', A]);
  isSilent = false;
  expect(order()).toEqual([A, '10.0.0.2:9042']);
});

test('coordinators: a node without a connection → not asked, unless no node has one', async () => {
  const connected = new Set(['10.0.0.2']);
  const points = ['10.0.0.1', '10.0.0.2'].map((host) => ({ host, port: 9042 }));
  const policy = createCoordinatorPolicy(cassandraDriver as never, points, {
    lookUp: (host) => Promise.resolve({ address: host }),
  });
  const hosts = points.map(({ host, port }): DriverHost => ({
    address: `${host}:${port}`,
    getActiveConnection: () => (connected.has(host) ? {} : null),
  }));
  const driven = policy as unknown as {
    init(client: object, hosts: object, done: () => void): void;
    newQueryPlan(
      keyspace: string,
      options: null,
      done: (error: unknown, plan: Iterable<DriverHost>) => void,
    ): void;
  };
  await new Promise<void>((done) => driven.init({}, { values: () => hosts }, done));
  const plan = (): Promise<string[]> =>
    new Promise((resolve) =>
      driven.newQueryPlan('shop', null, (_, nodes) =>
        resolve(Array.from(nodes, ({ address }) => address)),
      ),
    );
  expect([await plan(), policy.hasNode]).toEqual([['10.0.0.2:9042'], true]);
  connected.clear();
  expect([await plan(), policy.hasNode]).toEqual([['10.0.0.1:9042', '10.0.0.2:9042'], false]);
});
