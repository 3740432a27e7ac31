/** HTTP beside the websockets. */
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CorrectableError } from '../../src/correctable/errors.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways, type GatewayListener } from '../../src/server/gateway/listen/listen.ts';
import type { ListenOptions } from '../../src/server/gateway/listen/listen-options.ts';
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
    const sites = {
      here: expect.objectContaining({ state: 'serving', connections: 1 }) as unknown,
    };
    expect(await get(`${server.listener.url}/health`)).toMatchObject({
      status: 200,
      body: { status: 'ok', sites },
    });
  });

  test('/health while draining → 503', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'get', 'read', 3, null]);
    const { sink } = await server.store.next();
    const closed = server.listener.close({ drainMs: 5_000 });
    expect(await get(`${server.listener.url}/health`)).toMatchObject({
      status: 503,
      body: { status: 'draining' },
    });
    sink.view('v', 'strong');
    client.send([1, 'pong']);
    await closed;
  });

  test('/sites → name, path, levels and contract of every site', async () => {
    const binding = new StoreDouble();
    const contract = { name: 'shop', hash: 'f00', operations: {} };
    const sites = {
      ireland: createGateway({ binding }),
      frankfurt: createGateway({ binding, contract }),
    };
    const listener = await listenGateways({ sites });
    const levels = ['weak', 'strong'];
    expect((await get(`${listener.url}/sites`)).body).toEqual({
      sites: [
        { name: 'ireland', path: '/ireland', levels },
        { name: 'frankfurt', path: '/frankfurt', levels, contract: { name: 'shop', hash: 'f00' } },
      ],
    });
    expect(listener.siteUrl('frankfurt')).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/frankfurt$/);
    expect(() => listener.siteUrl('virginia')).toThrow(
      /'virginia' is not one of ireland, frankfurt/,
    );
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
    const document = readFileSync(
      new URL('../../docs/operate/metrics-and-alarms.md', import.meta.url),
      'utf8',
    );
    const documented = [...document.matchAll(/^\| `(correctables_\w+)` \| (\w+)/gm)].map(
      ([, name, kind]) => [name, kind],
    );
    const reported = [...text.matchAll(/^# TYPE (correctables_\w+) (\w+)/gm)].map(
      ([, name, kind]) => [name, kind],
    );
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

  const TOKEN = 'a token of operators';
  const authenticate = (): { readonly id: string } => ({ id: 'a signed-in user' });

  async function listen(options: Partial<ListenOptions>): Promise<GatewayListener> {
    const gateway = createGateway({ binding: new StoreDouble(), authenticate });
    const listener = await listenGateways({ sites: { here: gateway }, ...options });
    onTestFinished(() => listener.close({ drainMs: 0 }));
    return listener;
  }

  test('opens /metrics and the details of /health to the operator alone, not to a signed-in user', async () => {
    const { url } = await listen({ operatorToken: TOKEN });
    for (const headers of [{}, { authorization: 'Bearer a token of a user' }]) {
      expect(await get(`${url}/metrics`, headers)).toMatchObject({ status: 401 });
      expect((await get(`${url}/health`, headers)).body).toEqual({ status: 'ok' });
    }
    const operator = { authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${url}/metrics`, { headers: operator })).status).toBe(200);
    expect((await get(`${url}/health`, operator)).body).toHaveProperty('sites');
  });

  test('closes them to all if clients must authenticate and there is no token of operators', async () => {
    const { url } = await listen({});
    const { status, body } = await get(`${url}/metrics`, {
      authorization: 'Bearer a token of a user',
    });
    expect([status, JSON.stringify(body)]).toEqual([
      401,
      expect.stringContaining('--operator-token-file'),
    ]);
    expect((await get(`${url}/health`)).body).toEqual({ status: 'ok' });
  });

  test('reads the token again for each request, and answers 503 while it cannot be read', async () => {
    let token = TOKEN;
    const { url } = await listen({ operatorToken: () => token });
    const status = async (sent: string): Promise<number> => {
      return (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${sent}` } }))
        .status;
    };
    expect(await status(TOKEN)).toBe(200);
    token = 'another token of operators';
    expect([await status(TOKEN), await status(token)]).toEqual([401, 200]);
    token = '';
    expect(await status(TOKEN)).toBe(503);
  });

  test('logs once why the token cannot be used, until it can again', async () => {
    let token = '';
    const errors: unknown[] = [];
    const ignore = (): void => {};
    const logger = {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (fields: object) => errors.push(fields),
    };
    const { url } = await listen({ operatorToken: () => token, logger });
    const ask = (): Promise<unknown> => get(`${url}/metrics`);
    await ask();
    await ask();
    expect(errors).toEqual([
      { err: expect.objectContaining({ message: expect.stringContaining('operatorToken') }) },
    ]);
    token = TOKEN;
    await ask();
    token = 'too short';
    await ask();
    expect(errors).toHaveLength(2);
  });

  test.each([
    ['short'],
    [7],
    [''],
    // No header carries these as they are, so nobody could get in.
    [`${TOKEN}\n`],
    [` ${TOKEN}`],
    ['ein Schlüssel für Betreiber'],
    ['                '],
  ])('rejects the token %j', async (operatorToken) => {
    const listening = listen({ operatorToken: operatorToken as string });
    await expect(listening).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'operatorToken',
    });
  });

  test('counts views by operation and level, failures by code, and confirmed and corrected views', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    const end = async (id: number, first: string, last: string): Promise<void> => {
      client.send([id, 'submit', 'get', 'read', 3, null]);
      const { sink } = await server.store.next();
      sink.view(first, 'weak');
      sink.view(last, 'strong');
      await client.row();
      await client.row();
    };
    await end(1, 'same', 'same');
    await end(2, 'old', 'new');
    client.send([3, 'submit', 'get', 'read', 2, null]);
    const { sink } = await server.store.next();
    sink.fail(new CorrectableError('CONFLICT', 'others were faster'));
    await client.row();
    client.send([4, 'submit', 'made up by a client', 'read', 2, null]);
    (await server.store.next()).sink.fail(new CorrectableError('UNSUPPORTED', 'no such operation'));
    await client.row();
    const text = await (await fetch(`${server.listener.url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.includes('operation="'));
    const counted = lines
      .filter((line) => !/_bucket|_sum/.test(line))
      .map((line) => line.replace(/site="here",/, ''));
    expect(counted.toSorted()).toEqual([
      'correctables_operation_duration_seconds_count{operation="get",level="strong"} 2',
      'correctables_operation_duration_seconds_count{operation="get",level="weak"} 2',
      'correctables_operation_results_total{operation="(other)",level="strong",code="UNSUPPORTED"} 1',
      'correctables_operation_results_total{operation="get",level="strong",code="CONFLICT"} 1',
      'correctables_operation_results_total{operation="get",level="strong",code="ok"} 2',
      'correctables_operation_results_total{operation="get",level="weak",code="ok"} 2',
      'correctables_preliminary_views_total{operation="get",outcome="confirmed"} 1',
      'correctables_preliminary_views_total{operation="get",outcome="corrected"} 1',
    ]);
    expect(lines).toContain(
      'correctables_operation_duration_seconds_bucket{site="here",operation="get",level="weak",le="+Inf"} 2',
    );
  });

  test('counts an operation that asks for a level which does not exist at the strongest one', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'get', 'read', 2 ** 30, null]);
    expect(await client.row()).toContain('fail');
    const text = await (await fetch(`${server.listener.url}/metrics`)).text();
    expect(text).toContain('operation="(other)",level="strong",code="UNKNOWN_LEVEL"} 1');
  });
});
