/** Links that carry less than what is sent over them. */
// @rule BS-E9a
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts, LOOPBACK } from '../../../../../engines/ports.ts';
import type { ClusterAddress } from '../../../../../src/server/node/cluster/cluster-file.ts';
import { ClusterLinks } from '../../../../../src/server/node/links/cluster-links.ts';
import type { ClusterKeys } from '../../../../../src/server/node/cluster/key-file.ts';

const KEYS: ClusterKeys = {
  deployment: 'deployment',
  keys: [{ id: 'first', bytes: randomBytes(32) }],
  sessionKey: randomBytes(32),
};
const [HEARTBEAT_MS, CHUNK_BYTES, CHUNK_MS] = [20, 4096, 4];
/**
 * Takes tens of heartbeats on the way. A link is given up after five without a sign of the peer.
 */
const LARGE_BYTES = 500_000;

/** Passes on so many bytes in a time, towards the target. Counts its connections. */
async function openSlowProxy(
  target: ClusterAddress,
): Promise<{ address: ClusterAddress; connections: () => number }> {
  const [port] = (await freePorts(1)) as [number];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((from) => {
    count += 1;
    const to = connect(target.port, target.host);
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => [from, to].forEach((end) => end.destroy()));
    }
    to.pipe(from);
    const timer = setInterval(() => {
      const chunk = (from.read(CHUNK_BYTES) ?? from.read()) as Buffer | null;
      if (chunk !== null) to.write(chunk);
    }, CHUNK_MS);
    from.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(port, LOOPBACK, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { address: { host: LOOPBACK, port }, connections: () => count };
}

interface SlowPair {
  readonly a: ClusterLinks;
  readonly b: ClusterLinks;
  readonly events: string[];
  readonly contents: Buffer[];
  readonly connections: () => number;
}

/** Two sites whose links to each other are slow in the direction in which their messages go. */
async function openSlowPair(): Promise<SlowPair> {
  const [portA, portB] = (await freePorts(2)) as [number, number];
  const listens = { a: { host: LOOPBACK, port: portA }, b: { host: LOOPBACK, port: portB } };
  const proxies = { a: await openSlowProxy(listens.a), b: await openSlowProxy(listens.b) };
  const events: string[] = [];
  const contents: Buffer[] = [];
  const open = async (site: 'a' | 'b', peer: 'a' | 'b'): Promise<ClusterLinks> => {
    const links = await ClusterLinks.open({
      site,
      listen: listens[site],
      peers: new Map([[peer, proxies[peer].address]]),
      keys: KEYS,
      heartbeatIntervalMs: HEARTBEAT_MS,
      onAlarm: ({ message }) => events.push(message),
      onEnvelopes: (from, received) => {
        for (const content of received) {
          contents.push(Buffer.from(content));
          events.push(`${site} has ${content.length} bytes of ${from}`);
        }
      },
      onRequest: () => 'answer',
    });
    onTestFinished(() => links.close());
    return links;
  };
  const [a, b] = [await open('a', 'b'), await open('b', 'a')];
  await vi.waitFor(() => expect([a.isConnected('b'), b.isConnected('a')]).toEqual([true, true]), {
    timeout: 5000,
  });
  return {
    a,
    b,
    events,
    contents,
    connections: () => proxies.a.connections() + proxies.b.connections(),
  };
}

test('a message that is on its way for long → arrives in both directions, and others pass it', async () => {
  const { a, b, events, connections } = await openSlowPair();
  a.send('b', new Uint8Array(LARGE_BYTES));
  b.send('a', new Uint8Array(LARGE_BYTES));
  a.send('b', new Uint8Array(1));

  expect(await a.request('b', 'anything', null)).toBe('answer');
  expect(events).toEqual([]);

  await vi.waitFor(() => expect(events).toHaveLength(3), { timeout: 10_000 });
  expect([...events].sort()).toEqual([
    'a has 500000 bytes of b',
    'b has 1 bytes of a',
    'b has 500000 bytes of a',
  ]);
  expect(connections()).toBe(2);
});

test('a message that travels in parts → is the same at the other end', async () => {
  const { a, contents } = await openSlowPair();
  const sent = [randomBytes(100_000), randomBytes(10), randomBytes(65_536)];
  for (const content of sent) a.send('b', content);
  await vi.waitFor(() => expect(contents).toHaveLength(3), { timeout: 5000 });
  expect(contents.map((content) => content.toString('hex'))).toEqual(
    sent.map((content) => content.toString('hex')),
  );
});
