/** HTTP beside the websockets. */
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { ODD_TARGETS, statusOf } from '../support/odd-request-targets.ts';
import { RawClient, startGateway, StoreDouble } from '../support/wire.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, method }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const body: unknown = text === '' ? undefined : JSON.parse(text);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    outgoing.on('error', reject).end();
  });
}

describe('HTTP', () => {
  test('/health while serving → 200 with what each site is doing', async () => {
    await using server = await startGateway();
    await using _client = await RawClient.greeted(server.url);
    const sites = { here: expect.objectContaining({ state: 'serving', connections: 1 }) as unknown };
    expect(await get(`${server.listener.url}/health`)).toMatchObject({ status: 200, body: { status: 'ok', sites } });
  });

  test('/health while draining → 503', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'get', 'read', 3, null]);
    const { sink } = await server.store.next();
    const closed = server.listener.close({ drainMs: 5_000 });
    expect(await get(`${server.listener.url}/health`)).toMatchObject({ status: 503, body: { status: 'draining' } });
    sink.view('v', 'strong');
    client.send([1, 'pong']);
    await closed;
  });

  test('/sites → name, path, levels and contract of every site', async () => {
    const binding = new StoreDouble();
    const contract = { name: 'shop', hash: 'f00', operations: {} };
    const sites = { ireland: createGateway({ binding }), frankfurt: createGateway({ binding, contract }) };
    const listener = await listenGateways({ sites });
    const levels = ['weak', 'strong'];
    expect((await get(`${listener.url}/sites`)).body).toEqual({
      sites: [
        { name: 'ireland', path: '/ireland', levels },
        { name: 'frankfurt', path: '/frankfurt', levels, contract: { name: 'shop', hash: 'f00' } },
      ],
    });
    expect(listener.siteUrl('frankfurt')).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/frankfurt$/);
    expect(() => listener.siteUrl('virginia')).toThrow(/'virginia' is not one of ireland, frankfurt/);
    await listener.close();
  });

  test.each([
    ['/nowhere', {}, 'GET', 404],
    ['/health', {}, 'POST', 405],
    ['/health', { origin: 'https://evil.example' }, 'GET', 403],
    ['/sites', { host: 'rebound.example' }, 'GET', 403],
  ])('%s %j %s → %i', async (path, headers, method, status) => {
    await using server = await startGateway();
    expect((await get(server.listener.url + path, headers, method)).status).toBe(status);
  });

  test.each(ODD_TARGETS)('GET %s → 404, and it serves on', async (target) => {
    await using server = await startGateway();
    expect(await statusOf(server.listener.url, target)).toBe(404);
    expect(await statusOf(server.listener.url, '/health')).toBe(200);
  });

  test('listed page → may read the answer', async () => {
    const origin = 'https://shop.example';
    await using server = await startGateway({ origins: [origin] });
    const { headers } = await get(`${server.listener.url}/sites`, { origin });
    expect(headers['access-control-allow-origin']).toBe(origin);
  });
});

describe('listening', () => {
  test("on the application's own server → its other paths and upgrades stay its own", async () => {
    const own = createServer((request, response) => {
      if (!listener.handleHttp(request, response)) response.end('"the application"');
    });
    const gateway = createGateway({ binding: new StoreDouble() });
    const listener = await listenGateways({ sites: { here: gateway }, server: own });
    expect(await get(`${listener.url}/`)).toMatchObject({ body: 'the application' });
    expect(await get(`${listener.url}/health`)).toMatchObject({ body: { status: 'ok' } });
    await using client = new RawClient(listener.siteUrl('here'));
    expect(await client.greet()).toMatchObject([0, 'welcome', {}]);
    own.on('upgrade', (request, socket) => {
      if (request.url === '/own') socket.end('HTTP/1.1 418 Teapot\r\n\r\n');
    });
    const other = new WebSocket(listener.siteUrl('here').replace('/here', '/own'));
    const status = await new Promise((resolve) => {
      other.on('unexpected-response', (_, response) => resolve(response.statusCode));
    });
    expect(status).toBe(418);
    other.on('error', () => {});
    other.terminate();
    await listener.close({ drainMs: 0 });
    expect(own.listening).toBe(true);
    await new Promise((resolve) => {
      own.close(resolve);
      own.closeAllConnections();
    });
  });
});

describe('HTTP: readiness and metrics', () => {
  test('/ready and /ready/<site> → 200 while it takes clients, 503 when full, 404 for no site', async () => {
    await using server = await startGateway({ limits: { maxConnections: 1 } });
    const { url } = server.listener;
    expect(await get(`${url}/ready`)).toMatchObject({ status: 200, body: { ready: true } });
    expect((await get(`${url}/ready/here`)).status).toBe(200);
    expect((await get(`${url}/ready/there`)).status).toBe(404);
    await using _client = await RawClient.greeted(server.url);
    expect(await get(`${url}/ready/here`)).toMatchObject({ status: 503, body: { ready: false } });
  });

  test('/metrics → the documented names with the site as label, and figures that fit', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'put', 'write', 2, null], [2, 'bogus']);
    await server.store.next();
    await client.row();
    const text = await (await fetch(`${server.listener.url}/metrics`)).text();
    const document = readFileSync(new URL('../../docs/operate/metrics-and-alarms.md', import.meta.url), 'utf8');
    const documented = [...document.matchAll(/^\| `(correctables_\w+)` \| (\w+)/gm)].map(([, name, kind]) => [
      name,
      kind,
    ]);
    const reported = [...text.matchAll(/^# TYPE (correctables_\w+) (\w+)/gm)].map(([, name, kind]) => [name, kind]);
    expect(documented.toSorted()).toEqual(reported.toSorted());
    for (const [name, value] of Object.entries({
      correctables_serving: 1,
      correctables_connections: 1,
      correctables_operations_in_flight: 1,
      correctables_operations_total: 1,
      correctables_replies_retained: 1,
      correctables_malformed_total: 1,
    })) {
      expect(text).toContain(`${name}{site="here"} ${value}\n`);
    }
    expect(text).toContain('process_cpu_seconds_total');
  });

  test('clients must authenticate → /metrics and the details of /health only with a token', async () => {
    const authenticate = (token: string | undefined) => {
      if (token !== 'secret') throw new Error('no such token');
      return { id: 'ops' };
    };
    await using server = await startGateway({ authenticate });
    const { url } = server.listener;
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
    expect((await get(`${url}/health`)).body).toEqual({ status: 'ok' });
    expect((await get(`${url}/health`, { authorization: 'Bearer secret' })).body).toHaveProperty('sites');
  });
});
