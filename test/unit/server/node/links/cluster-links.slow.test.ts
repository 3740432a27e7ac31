/** Links between nodes over real sockets with TLS. */
// @rule CLU-U1a, CLU-U1b
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts, LOOPBACK } from '../../../../../engines/ports.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import type { ClusterAddress } from '../../../../../src/server/node/cluster/cluster-file.ts';
import {
  ClusterLinks,
  type ClusterLinksOptions,
} from '../../../../../src/server/node/links/cluster-links.ts';
import type { ClusterKeys } from '../../../../../src/server/node/cluster/key-file.ts';
import { LinkConnection } from '../../../../../src/server/node/links/link-connection.ts';
import { dialSecurely } from '../../../../../src/server/node/links/link-security.ts';
import { requestOfOperator } from '../../../../../src/server/node/commands/operator-request.ts';

const createKey = (id: string): ClusterKeys['keys'][number] => ({ id, bytes: randomBytes(32) });
const [first, second] = [createKey('first'), createKey('second')];
const createKeys = (...keys: readonly ReturnType<typeof createKey>[]): ClusterKeys => ({
  deployment: 'deployment',
  keys,
  sessionKey: randomBytes(32),
});

async function findAddress(): Promise<ClusterAddress> {
  const [port] = (await freePorts(1)) as [number];
  return { host: LOOPBACK, port };
}

/** A node that collects what comes. */
interface TestNode {
  readonly links: ClusterLinks;
  readonly received: string[];
  readonly slices: string[];
  readonly alarms: SiteAlarm[];
}

type Addresses = Readonly<Record<string, ClusterAddress>>;

async function openNode(
  site: string,
  addresses: Addresses,
  options: Partial<ClusterLinksOptions> = {},
): Promise<TestNode> {
  const [received, slices, alarms]: [string[], string[], SiteAlarm[]] = [[], [], []];
  const links = await ClusterLinks.open({
    site,
    listen: addresses[site] as ClusterAddress,
    peers: new Map(Object.entries(addresses).filter(([name]) => name !== site)),
    keys: createKeys(first),
    heartbeatIntervalMs: 20,
    onAlarm: (alarm) => alarms.push(alarm),
    onEnvelopes: (from, contents) =>
      received.push(...contents.map((bytes) => `${from}: ${Buffer.from(bytes).toString()}`)),
    onSlice: (from, bytes) => slices.push(`${from}: ${Buffer.from(bytes).toString()}`),
    onRequest: ({ from, kind, body }) => {
      if (kind === 'fail') throw new Error('it cannot be done');
      return { from, kind, body };
    },
    ...options,
  });
  onTestFinished(() => links.close());
  return { links, received, slices, alarms };
}

async function createAddresses(...names: readonly string[]): Promise<Addresses> {
  const found: [string, ClusterAddress][] = [];
  for (const name of names) found.push([name, await findAddress()]);
  return Object.fromEntries(found);
}

const waitForLink = (node: TestNode, peer: string): Promise<void> =>
  vi.waitFor(() => expect(node.links.isConnected(peer)).toBe(true), {
    timeout: 10_000,
    interval: 5,
  });
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

test('messages arrive in order; slices and requests arrive too, and traffic is counted', async () => {
  const addresses = await createAddresses('a', 'b');
  const [a, b] = [await openNode('a', addresses), await openNode('b', addresses)];
  await Promise.all([waitForLink(a, 'b'), waitForLink(b, 'a')]);
  const texts = Array.from({ length: 100 }, (_, n) => `message ${n}`);
  for (const text of texts) a.links.send('b', bytesOf(text));
  await a.links.sendSlice('b', bytesOf('slice'));
  expect(await b.links.request('a', 'hello', [1])).toEqual({ from: 'b', kind: 'hello', body: [1] });
  await expect(a.links.request('b', 'fail', null)).rejects.toThrow('it cannot be done');
  await vi.waitFor(() => expect(b.slices).toEqual(['a: slice']));
  expect(b.received).toEqual(texts.map((text) => `a: ${text}`));
  expect(a.links.status[0]).toMatchObject({
    peer: 'b',
    isConnected: true,
    sentMessages: 100,
    queuedMessages: 0,
  });
  expect(b.links.status[0]).toMatchObject({ peer: 'a', receivedMessages: 100 });
  await vi.waitFor(() => expect(a.links.status[0]?.roundTripMs).toBeGreaterThan(0));
  expect([a.alarms, b.alarms]).toEqual([[], []]);
});

test('the link to the leader of the red log is down → the alarm reports what waits, and what to run', async () => {
  const a = await openNode('a', await createAddresses('a', 'b'), {
    downAlarmMs: 1,
    getRedLeader: () => 'b',
  });
  const message = expect.stringMatching(
    /red operations and strong reads wait.*run cluster restore-red\.$/,
  );
  await vi.waitFor(() =>
    expect(a.alarms).toEqual([expect.objectContaining({ kind: 'link-down', message })]),
  );
});

test('a link that is lost → alarm, and another one when it is up again', async () => {
  const addresses = await createAddresses('a', 'b');
  const a = await openNode('a', addresses, { downAlarmMs: 1 });
  await vi.waitFor(() => expect(a.alarms.map(({ kind }) => kind)).toEqual(['link-down']));
  expect(a.alarms[0]?.message).toContain('Operations continue');
  const b = await openNode('b', addresses);
  await vi.waitFor(
    () =>
      expect(a.alarms.map(({ kind, peer }) => [kind, peer])).toEqual([
        ['link-down', 'b'],
        ['link-up', 'b'],
      ]),
    {
      timeout: 10_000,
    },
  );
  await b.links.close();
  await vi.waitFor(() => expect(a.links.isConnected('b')).toBe(false));
  await expect(a.links.request('b', 'hello', null)).rejects.toThrow('the link to b is down');
});

test('a link is down before the site serves → the alarm does not claim that operations continue', async () => {
  const a = await openNode('a', await createAddresses('a', 'b'), {
    downAlarmMs: 1,
    isServing: () => false,
  });
  await vi.waitFor(() =>
    expect(a.alarms[0]?.message).toMatch(/\. This site does not serve yet\.$/),
  );
});

test('a second key → is accepted, and the first one is used to connect', async () => {
  const addresses = await createAddresses('a', 'b');
  const a = await openNode('a', addresses, { keys: createKeys(first, second) });
  const b = await openNode('b', addresses, { keys: createKeys(second, first) });
  await Promise.all([waitForLink(a, 'b'), waitForLink(b, 'a')]);
});

test.each([
  ['another key', createKeys(second), /key/],
  ['another deployment', { ...createKeys(first), deployment: 'other' }, /deployment|key/],
  ['the same name and another secret', createKeys({ id: 'first', bytes: randomBytes(32) }), /key/],
])('a peer with %s → one alarm, and no message', async (_what, keys, problem) => {
  const addresses = await createAddresses('a', 'b');
  const [a, b] = [await openNode('a', addresses), await openNode('b', addresses, { keys })];
  const refusals = (): SiteAlarm[] => b.alarms.filter(({ peer }) => peer === 'a');
  await vi.waitFor(() => expect(refusals()).toHaveLength(1));
  b.links.send('a', bytesOf('secret'));
  // After more attempts there is still one.
  await vi.waitFor(() => expect(a.links.refusedConnections).toBeGreaterThan(2), {
    timeout: 10_000,
  });
  expect(refusals()).toMatchObject([
    { kind: 'link-refused', message: expect.stringMatching(problem) as string },
  ]);
  expect(refusals()[0]?.message).not.toContain('SSL');
  expect([a.received, a.links.isConnected('b')]).toEqual([[], false]);
});

test('a site that is not in the file, and one at the address of another → both ends name it once', async () => {
  const addresses = await createAddresses('a', 'b', 'c');
  const { a: addressA, b: addressB } = addresses as { a: ClusterAddress; b: ClusterAddress };
  const a = await openNode('a', { a: addressA });
  const c = await openNode('c', { c: addresses['c'] as ClusterAddress, a: addressA });
  const d = await openNode('b', { b: addressB, d: addressA });
  await vi.waitFor(() =>
    expect(c.alarms[0]?.message).toContain('it is the site c, which a does not know'),
  );
  await vi.waitFor(() => expect(d.alarms[0]?.message).toContain('it has dialed d, and this is a'));
  await vi.waitFor(() =>
    expect(a.alarms.map(({ kind }) => kind)).toEqual(['link-refused', 'link-refused']),
  );
});

test('a site that is about to join → is refused without an alarm at either end', async () => {
  const addresses = await createAddresses('a', 'b');
  const a = await openNode('a', { a: addresses['a'] as ClusterAddress });
  const b = await openNode('b', addresses, { isJoining: () => true });
  await vi.waitFor(() => expect(a.links.refusedConnections).toBeGreaterThan(1), {
    timeout: 10_000,
  });
  expect([a.alarms, b.alarms]).toEqual([[], []]);
});

test('strangers that send no TLS, or nothing → no alarm', async () => {
  const addresses = await createAddresses('a');
  const a = await openNode('a', addresses);
  const socket = connect((addresses['a'] as ClusterAddress).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\n\r\n');
  await once(socket, 'close');
  expect(a.alarms).toEqual([]);
});

test.each([
  [
    'another engine',
    { engine: 'etcd' },
    'redLog.engine of cluster.json is etcd at b, and built-in at a',
  ],
  [
    'another order',
    { founders: ['b', 'a'] },
    'the order of sites of cluster.json is b, a at b, and a, b at a',
  ],
  [
    'another leader of the red log',
    { red: { generation: 0, leader: 'b' } },
    'redLog.leader of cluster.json is b at b, and a at a',
  ],
])(
  'a peer with %s in its cluster.json → is refused, and both ends name the field',
  async (_what, change, problem) => {
    const addresses = await createAddresses('a', 'b');
    const setup = { engine: 'built-in', founders: ['a', 'b'], red: { generation: 0, leader: 'a' } };
    const a = await openNode('a', addresses, { getSetup: () => setup });
    const b = await openNode('b', addresses, { getSetup: () => ({ ...setup, ...change }) });
    const refused = { kind: 'link-refused', message: expect.stringContaining(problem) as string };
    await vi.waitFor(() => {
      expect(a.alarms).toContainEqual(expect.objectContaining(refused));
      expect(b.alarms).toContainEqual(expect.objectContaining({ ...refused, peer: 'a' }));
    });
    expect([a.links.isConnected('b'), b.links.isConnected('a')]).toEqual([false, false]);
    expect(b.links.refusal).toBe(
      `no other site accepts its connections: a refuses them, since ${problem}: start both with the same file`,
    );
  },
);

test('one site refuses this one, and another one accepts it → it is not refused by all', async () => {
  const addresses = await createAddresses('a', 'b', 'c');
  const setup = { engine: 'built-in', founders: ['a', 'b'] };
  await openNode('a', addresses, { getSetup: () => setup });
  const b = await openNode('b', addresses, { getSetup: () => ({ ...setup, engine: 'etcd' }) });
  await vi.waitFor(() => expect(b.links.refusal).toContain('a refuses them'));
  await openNode('c', addresses);
  await waitForLink(b, 'c');
  expect(b.links.refusal).toBeUndefined();
});

test.each([
  ['a later generation of the red log', { red: { generation: 1, leader: 'b' } }],
  ['a red log that is being restored', { red: { generation: 0, leader: null } }],
  ['founders that it does not know yet', { founders: undefined, red: undefined }],
])('a peer with %s → is connected', async (_what, change) => {
  const addresses = await createAddresses('a', 'b');
  const setup = { engine: 'built-in', founders: ['a', 'b'], red: { generation: 0, leader: 'a' } };
  const a = await openNode('a', addresses, { getSetup: () => setup });
  const b = await openNode('b', addresses, { getSetup: () => ({ ...setup, ...change }) });
  await Promise.all([waitForLink(a, 'b'), waitForLink(b, 'a')]);
});

test('strangers that make up deployments and keys → two alarms, all are counted, and a refused peer is reported', async () => {
  const addresses = await createAddresses('a', 'b');
  const a = await openNode('a', addresses);
  const stranger = (deployment: string): Promise<unknown> => {
    const keys = { ...createKeys(second), deployment };
    return requestOfOperator(
      { address: addresses['a'] as ClusterAddress, to: 'a', keys },
      'status',
      null,
    );
  };
  const claims = ['deployment', ...Array.from({ length: 120 }, (_, index) => `made up ${index}`)];
  for (const claim of claims) await expect(stranger(claim)).rejects.toThrow('it has another key');
  // That b is away may be reported as well by now.
  const refusals = a.alarms.filter(({ kind }) => kind === 'link-refused');
  expect(refusals.map(({ peer }) => peer)).toEqual([undefined, undefined]);
  await vi.waitFor(() => expect(a.links.refusedConnections).toBe(claims.length));

  await openNode('b', addresses, { keys: createKeys(second) });
  const refused = expect.objectContaining({ kind: 'link-refused', peer: 'b' }) as unknown;
  await vi.waitFor(() => expect(a.alarms).toContainEqual(refused), { timeout: 5000 });
});

test('more silent connections than there are places → a site and a command still connect', async () => {
  const addresses = await createAddresses('a', 'b');
  const address = addresses['a'] as ClusterAddress;
  await openNode('a', addresses);
  const silent = Array.from({ length: 600 }, () =>
    connect(address.port, LOOPBACK).on('error', () => {}),
  );
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  expect(
    await requestOfOperator({ address, to: 'a', keys: createKeys(first) }, 'status', 1),
  ).toMatchObject({
    body: 1,
  });
  const b = await openNode('b', addresses);
  await waitForLink(b, 'a');
});

// Else the handshake would have to time out first, after 5 s.
test(
  'a stranger that sends nothing → closing does not wait for it',
  { timeout: 4500 },
  async () => {
    const addresses = await createAddresses('a');
    const a = await openNode('a', addresses);
    const stranger = connect((addresses['a'] as ClusterAddress).port, '127.0.0.1');
    await once(stranger, 'connect');
    await Promise.all([a.links.close(), once(stranger, 'close')]);
  },
);

test('another program at the address of a site → the alarm names that as the cause', async () => {
  const addresses = await createAddresses('a', 'b');
  const web = createServer((socket) =>
    socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  );
  await once(web.listen((addresses['b'] as ClusterAddress).port, '127.0.0.1'), 'listening');
  onTestFinished(() => void web.close());
  const a = await openNode('a', addresses);
  await vi.waitFor(() => expect(a.alarms[0]?.message).toContain('another program listens there'));
});

test('a command → gets replies with the key, but sends no messages', async () => {
  const addresses = await createAddresses('a');
  await openNode('a', addresses);
  const address = addresses['a'] as ClusterAddress;
  const target = { address, to: 'a', keys: createKeys(first) };
  expect(await requestOfOperator(target, 'status', 1)).toEqual({
    from: null,
    kind: 'status',
    body: 1,
  });
  await expect(requestOfOperator(target, 'fail', null)).rejects.toThrow('it cannot be done');
  await expect(requestOfOperator({ ...target, to: 'b' }, 'status', null)).rejects.toThrow(
    'it has dialed b',
  );
  await expect(
    requestOfOperator({ ...target, keys: createKeys(second) }, 'status', null),
  ).rejects.toThrow(/^it has another key: compare the key files of both$/);
});

test('a queue that is full → drops, with an alarm', async () => {
  const addresses = await createAddresses('a', 'b');
  const a = await openNode('a', addresses, { limits: { maxMessages: 2, maxBytes: 100 } });
  for (const text of ['1', '2', '3']) a.links.send('b', bytesOf(text));
  expect(a.alarms.map(({ kind }) => kind)).toEqual(['link-overflow']);
  const b = await openNode('b', addresses);
  await waitForLink(a, 'b');
  a.links.send('b', bytesOf('last'));
  await vi.waitFor(() => expect(b.received.at(-1)).toBe('a: last'));
});

test('an address in use → the error names it and how to continue', async () => {
  const addresses = await createAddresses('a');
  await openNode('a', addresses);
  await expect(openNode('a', addresses)).rejects.toThrow(
    /sites\.a\.cluster is 127\.0\.0\.1:\d+, where this process cannot listen/,
  );
});

test.each([
  ['the next version, which reads this one', 6, 5, undefined],
  [
    'a version that does not read this one',
    7,
    6,
    'b uses version 7 of links, and a uses version 5: upgrade a',
  ],
])('%s → %s', async (_, version, oldest, refused) => {
  const addresses = await createAddresses('a', 'b');
  const { links } = await openNode('a', addresses);
  const keys = createKeys(first);
  const socket = dialSecurely(addresses['a'] as ClusterAddress, keys, () => {});
  const connection = new LinkConnection(socket, { onRequest: () => null, onClosed: () => {} });
  onTestFinished(() => connection.close());
  connection.isKnown = true;
  const reply = await connection.request('connect', {
    version,
    oldest,
    deployment: 'deployment',
    from: 'b',
    to: 'a',
  });
  const known = { site: 'a', version: 5, oldest: 4 };
  expect(reply).toEqual(
    refused === undefined ? known : { refused: expect.stringContaining(refused) as string },
  );
  expect(links.refusedConnections).toBe(refused === undefined ? 0 : 1);
});
