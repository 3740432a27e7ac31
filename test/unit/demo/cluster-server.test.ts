/** The cluster at one address: what it answers, to whom, and where its ways lead. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Cluster } from '../../../demo/cluster/cluster.ts';
import { startClusterServer, type ClusterServer } from '../../../demo/cluster/server.ts';
import { waysFrom } from '../../../demo/cluster/ways.ts';

const done: string[] = [];
let node: WebSocketServer;
let server: ClusterServer;

beforeAll(async () => {
  node = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  node.on('connection', (socket, { url, headers }) =>
    socket.send(`${url} ${headers.origin ?? 'no origin'}`),
  );
  await new Promise((resolve) => node.once('listening', resolve));
  const cluster = {
    status: [
      { name: 'ireland', state: 'running', isLeader: true, isCut: false, isCatchingUp: false },
    ],
    clientPort: () => (node.address() as AddressInfo).port,
    act: async (site: string, action: string) => void done.push(`${site} ${action}`),
  } as unknown as Cluster;
  server = await startClusterServer({ cluster, wan: 'none', port: 0 });
});

afterAll(async () => {
  for (const socket of node.clients) socket.terminate();
  await server.close();
  await new Promise((resolve) => node.close(resolve));
});

function post(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/cluster/${path}`, { method: 'POST', headers });
}

test('GET /cluster → the sites as they are', async () => {
  const answer = (await (await fetch(`${server.url}/cluster`)).json()) as { sites: unknown };
  expect(answer.sites).toEqual([
    { name: 'ireland', state: 'running', isLeader: true, isCut: false, isCatchingUp: false },
  ]);
});

test('POST /cluster/SITE/ACTION → it is done; an unknown one → the reply lists the known ones', async () => {
  expect((await post('ireland/kill', { origin: server.url })).status).toBe(202);
  expect(done).toEqual(['ireland kill']);
  for (const path of ['mars/kill', 'ireland/explode', 'ireland', 'ireland/kill/now']) {
    const answer = await post(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain(
      'sites ireland, frankfurt, virginia; actions kill, start',
    );
  }
  expect(done).toEqual(['ireland kill']);
});

test('a page of another origin → refused, over HTTP and as a websocket', async () => {
  expect((await post('ireland/kill', { origin: 'http://elsewhere.example' })).status).toBe(403);
  const [, [, url] = []] = waysFrom(server.url, 'ireland');
  const socket = new WebSocket(url as string, { origin: 'http://elsewhere.example' });
  await expect(new Promise((_, reject) => socket.once('error', reject))).rejects.toThrow(
    'socket hang up',
  );
});

test('a way from one site to another → leads to the node, which sees its own path and the origin of the page', async () => {
  const [first, second] = waysFrom(server.url, 'frankfurt');
  expect([first?.[0], second?.[0]]).toEqual(['frankfurt', 'ireland']);
  const socket = new WebSocket(second?.[1] as string, { origin: server.url });
  const greeting = await new Promise((resolve, reject) => {
    socket.once('message', (data: Buffer) => resolve(data.toString()));
    socket.once('error', reject);
  });
  expect(greeting).toBe(`/ireland ${server.url}`);
  socket.terminate();
});

test('no such way → refused', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/frankfurt/mars`);
  await expect(new Promise((_, reject) => socket.once('error', reject))).rejects.toThrow(
    'socket hang up',
  );
});
