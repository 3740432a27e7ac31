/**
 * The port: upgrades and requests of all kinds of peers, on servers of ours and of applications.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createSecureServer,
  get as getSecurely,
  type Server as SecureServer,
} from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import {
  listenGateways,
  type GatewayListener,
} from '../../../../../src/server/gateway/listen/listen.ts';
import type { ListenOptions } from '../../../../../src/server/gateway/listen/listen-options.ts';
import { GatewayMetrics } from '../../../../../src/server/gateway/listen/metrics.ts';
import { findSites } from '../../../../../src/transport/find-sites.ts';
import { RawClient, StoreDouble } from '../../../../support/wire.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of opened.splice(0).toReversed()) await close();
});

async function listen(options: Partial<ListenOptions> = {}): Promise<GatewayListener> {
  const listener = await listenGateways({
    sites: { here: createGateway({ binding: new StoreDouble() }) },
    ...options,
  });
  opened.push(() => listener.close({ drainMs: 0 }));
  return listener;
}

const KEY = { psk: Buffer.from('secret'), identity: 'peer' };
/** A server and its clients with a key that both have, which needs no certificate. */
const TLS = { ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback: () => KEY } as const;
const TLS_CLIENT = { ...TLS, checkServerIdentity: () => undefined } as const;

/** A server of the application's own with TLS, which listens already. */
async function ownSecureServer(
  host = '127.0.0.1',
  onRequest?: RequestListener,
): Promise<SecureServer> {
  const server = createSecureServer({ ...TLS, pskCallback: () => KEY.psk }, onRequest);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  opened.push(() => new Promise((resolve) => server.close(resolve)));
  return server;
}

/** A server of the application's own, which listens already. */
async function ownServer(host?: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  opened.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Headers that ask for a websocket. */
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Protocol: correctables.v1+json',
];

/** Speaks to a port by hand. */
class RawPeer {
  readonly socket: Socket;
  text = '';
  readonly ended: Promise<void>;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (data) => (this.text += data.toString()));
    this.socket.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.socket.once('end', resolve);
      this.socket.once('close', () => resolve());
    });
  }

  send(...lines: string[]): this {
    this.socket.write(lines.join('\r\n'));
    return this;
  }

  upgrade(path: string, host = '127.0.0.1'): this {
    return this.send(`GET ${path} HTTP/1.1`, `Host: ${host}`, ...UPGRADE, '', '');
  }
}

async function expectServing(listener: GatewayListener): Promise<void> {
  await using client = new RawClient(listener.siteUrl('here'));
  expect(await client.greet()).toMatchObject([0, 'welcome', {}]);
}

const port = (listener: GatewayListener): number => Number(new URL(listener.url).port);

describe('upgrades', () => {
  test('to addresses of no site, then a reset → refused, with the sites, and the server lives', async () => {
    const listener = await listen();
    const paths = ['/nope', '//', '/here/', '/%zz', '*', 'http://evil.example/nope', '/health'];
    const refuse = async (path: string): Promise<void> => {
      const peer = new RawPeer(port(listener)).upgrade(path);
      await peer.ended;
      expect(peer.text, path).toMatch(
        /^HTTP\/1\.1 (400 |101 .*the path of the address is no site\. Sites: \/here)/s,
      );
      peer.socket.resetAndDestroy();
    };
    // Each refusal takes a second, in which the peer may close its end.
    await Promise.all(paths.map(refuse));
    await expectServing(listener);
  });

  test('to no site, without our subprotocol → 404', async () => {
    const listener = await listen();
    const lines = [
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
    ];
    const peer = new RawPeer(port(listener)).send('GET /nope HTTP/1.1', ...lines, '', '');
    await peer.ended;
    expect(peer.text).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('reset at once, before any answer is read → the server lives', async () => {
    const listener = await listen();
    for (const path of ['/nope', '/here', '/nope']) {
      const peer = new RawPeer(port(listener)).upgrade(path);
      await new Promise((resolve) => peer.socket.once('connect', resolve));
      peer.socket.resetAndDestroy();
    }
    await expectServing(listener);
  });

  test('refused, and the peer keeps its end open → the socket is let go of', async () => {
    const server = await ownServer('127.0.0.1');
    await listen({ server });
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    const peer = new RawPeer(portOf(server)).upgrade('/nope');
    await peer.ended;
    await expect.poll(() => sockets.map((socket) => socket.destroyed)).toEqual([true]);
  });

  test('left to another listener that takes none of it → guarded meanwhile, refused in the end', async () => {
    const server = await ownServer('127.0.0.1');
    const upgrades: string[] = [];
    let taken: (() => void) | undefined;
    server.on('upgrade', ({ url = '' }) => {
      upgrades.push(url);
      taken?.();
    });
    const listener = await listen({ server });
    const reset = new RawPeer(portOf(server)).upgrade('/nope');
    await new Promise<void>((resolve) => (taken = resolve));
    reset.socket.resetAndDestroy();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const peer = new RawPeer(portOf(server)).upgrade('/nope');
    await new Promise<void>((resolve) => (taken = resolve));
    expect(upgrades).toEqual(['/nope', '/nope']);
    vi.advanceTimersByTime(30_000);
    await peer.ended;
    expect(peer.text).toMatch(/^HTTP\/1\.1 404 /);
    vi.useRealTimers();
    await expectServing(listener);
  });

  test("taken by the application's own listener, and silent since → left alone", async () => {
    const server = await ownServer('127.0.0.1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const own = new WebSocketServer({ noServer: true });
    const upgraded = new Promise<void>((resolve) => {
      server.on('upgrade', (request, socket, head) => {
        if (request.url === '/own') own.handleUpgrade(request, socket, head, () => resolve());
      });
    });
    await listen({ server });
    const socket = new WebSocket(`ws://127.0.0.1:${portOf(server)}/own`);
    await Promise.all([upgraded, new Promise((resolve) => socket.once('open', resolve))]);
    vi.advanceTimersByTime(60_000);
    const pong = new Promise((resolve) => socket.once('pong', resolve));
    socket.ping();
    await pong;
    socket.terminate();
  });
});

describe('upgrades to something else than a websocket', () => {
  const h2c = (method: string, path: string, ...more: string[]) => [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    ...more,
  ];
  const last = ['GET /nope HTTP/1.1', 'Host: localhost', 'Connection: close', '', ''];
  const echo: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () =>
      response.end(`${request.method} ${String(request.headers['x-name'])} ${body}.`),
    );
  };

  test.each([
    ['/health', 200],
    ['/metrics', 200],
    ['/here', 404],
    ['/nope', 404],
  ])('GET %s → answered as if it had not asked for that', async (path, status) => {
    const listener = await listen();
    const peer = new RawPeer(port(listener)).send(...h2c('GET', path), '', '').send(...last);
    await peer.ended;
    const statuses = [...peer.text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, reported]) =>
      Number(reported),
    );
    expect(statuses).toEqual([status, 404]);
  });

  test.each(['hello', 'he', ''])(
    'with a body of which "%s" comes at once → read whole, with its headers',
    async (now) => {
      const server = await ownServer('127.0.0.1');
      const requested = new Promise((resolve) => server.once('request', resolve));
      server.on('request', echo);
      await listen({ server });
      const lines = h2c('POST', '/', 'Content-Length: 5', 'X-Name: Zo\u00eb', '', now);
      const peer = new RawPeer(portOf(server));
      peer.socket.write(Buffer.from(lines.join('\r\n'), 'latin1'));
      await requested;
      peer.send('hello'.slice(now.length) + last.join('\r\n'));
      await peer.ended;
      expect(peer.text).toContain('POST Zo\u00eb hello.');
      expect(peer.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    },
  );

  test("on the application's own server → answered by it, however many gateways are there", async () => {
    const server = await ownServer('127.0.0.1');
    server.on('request', echo);
    await listen({ server });
    await listen({ server });
    const peer = new RawPeer(portOf(server)).send(...h2c('GET', '/shop'), '', '').send(...last);
    await peer.ended;
    expect(peer.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  test("on the application's own server with another listener for upgrades → left to that", async () => {
    const server = await ownServer('127.0.0.1');
    server.on('upgrade', (request, socket) => {
      if (request.headers.upgrade === 'h2c') socket.end('HTTP/1.1 418 Teapot\r\n\r\n');
    });
    await listen({ server });
    const peer = new RawPeer(portOf(server)).send(...h2c('GET', '/shop'), '', '');
    await peer.ended;
    expect(peer.text).toMatch(/^HTTP\/1\.1 418 /);
    // Its own half is still open, and the server would wait for that.
    peer.socket.destroy();
  });
});

describe('where it listens', () => {
  test.each(['0.0.0.0', '::', undefined])(
    'own server on %s, everybody let in → INVALID_ARGUMENT',
    async (host) => {
      const server = await ownServer(host);
      const listeners = (): number[] =>
        ['upgrade', 'listening'].map((name) => server.listenerCount(name));
      const before = listeners();
      const sites = { here: createGateway({ binding: new StoreDouble() }) };
      await expect(listenGateways({ server, sites })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: 'server',
      });
      expect(listeners()).toEqual(before);
    },
  );

  test.each(['0.0.0.0', '::'])(
    'own server on %s with authenticate → accepts its real names, as its url shows',
    async (host) => {
      const server = await ownServer(host);
      const gateway = createGateway({
        binding: new StoreDouble(),
        authenticate: () => ({ id: 'ada' }),
      });
      const listener = await listen({ server, sites: { here: gateway } });
      expect(listener.url).toBe(`http://${host === '::' ? '[::]' : host}:${portOf(server)}`);
      await using client = new RawClient(`ws://127.0.0.1:${portOf(server)}/here`, {
        host: 'shop.example',
      });
      expect(await client.greet()).toMatchObject([0, 'welcome', {}]);
      const answer = new RawPeer(portOf(server)).send(
        'GET /ready HTTP/1.1',
        'Host: shop.example',
        'Connection: close',
        '',
        '',
      );
      server.on('request', (request, response) => void listener.handleHttp(request, response));
      await answer.ended;
      expect(answer.text).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  test('own server that then listens on a reachable address → rejects all peers there', async () => {
    const server = await ownServer('127.0.0.1');
    const listener = await listen({ server });
    server.on('request', (request, response) => void listener.handleHttp(request, response));
    await expectServing(listener);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const upgrade = new RawPeer(portOf(server)).upgrade('/here', 'localhost');
    const request = new RawPeer(portOf(server)).send(
      'GET /health HTTP/1.1',
      'Host: localhost',
      'Connection: close',
      '',
      '',
    );
    await Promise.all([upgrade.ended, request.ended]);
    expect(upgrade.text).toMatch(/^HTTP\/1\.1 403 /);
    expect(request.text).toMatch(/^HTTP\/1\.1 403 /);
  });

  test.each([
    ['on a reachable address → reject all peers', '0.0.0.0', 'localhost'],
    ['on loopback → reject peers that use another host name', '127.0.0.1', 'evil.example'],
  ])('an own server that listens again: connections that it gets %s', async (_, boundTo, name) => {
    const server = await ownServer('127.0.0.1');
    const listener = await listen({ server });
    server.on('request', (request, response) => void listener.handleHttp(request, response));
    await new Promise((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => server.listen(0, boundTo, resolve));
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    const peers = ['/here', '/health'].map((path) =>
      new RawPeer(portOf(server)).send(`GET ${path} HTTP/1.1`, ''),
    );
    // Or they would be closed as idle ones.
    await expect
      .poll(() => sockets.filter(({ bytesRead }) => bytesRead > 0).length)
      .toBe(peers.length);
    server.close();
    peers[0]!.send(...UPGRADE, `Host: ${name}`, '', '');
    peers[1]!.send('Connection: close', `Host: ${name}`, '', '');
    await Promise.all(peers.map(({ ended }) => ended));
    for (const { text: answer } of peers) expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('own server that does not listen yet → is made to, at the address that was asked for', async () => {
    const server = createServer();
    opened.push(() => new Promise((resolve) => server.close(resolve)));
    const listener = await listen({ server });
    expect(server.address()).toMatchObject({ address: '127.0.0.1' });
    await expectServing(listener);
    const other = createServer();
    const sites = { here: createGateway({ binding: new StoreDouble() }) };
    await expect(listenGateways({ server: other, sites, host: '0.0.0.0' })).rejects.toMatchObject({
      field: 'host',
    });
    expect(other.listening).toBe(false);
  });

  test('own server with TLS → its addresses say so, and lead there', async () => {
    const server = await ownSecureServer();
    const listener = await listen({ server });
    server.on('request', (request, response) => void listener.handleHttp(request, response));
    const { url } = listener;
    expect([url, listener.siteUrl('here')]).toEqual(
      ['https', 'wss'].map(
        (scheme, n) => `${scheme}://127.0.0.1:${portOf(server)}${['', '/here'][n]}`,
      ),
    );
    const socket = new WebSocket(
      listener.siteUrl('here'),
      'correctables.v1+json',
      TLS_CLIENT as object,
    );
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.terminate();
    const fetchSecurely = (address: string) =>
      new Promise<Response>((resolve, reject) => {
        getSecurely(address, TLS_CLIENT, (answer) => {
          void text(answer).then((body) =>
            resolve(new Response(body, { status: answer.statusCode ?? 0 })),
          );
        }).once('error', reject);
      });
    expect(await findSites(url, { fetch: fetchSecurely })).toEqual([listener.siteUrl('here')]);
  });

  test('own server on a socket in the file system → serves there', async () => {
    const server = createServer();
    const path = join(tmpdir(), `gateway-${process.pid}.sock`);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    opened.push(() => new Promise((resolve) => server.close(resolve)));
    const listener = await listen({ server });
    const socket = new WebSocket(listener.siteUrl('here'), 'correctables.v1+json');
    await new Promise((resolve) => socket.once('open', resolve));
    socket.terminate();
  });
});

describe('requests', () => {
  const request = (...lines: string[]) => [...lines, 'Connection: close', '', ''];

  test.each([
    ['a path of nothing but slashes', request('GET //// HTTP/1.1', 'Host: localhost'), 404],
    ['what looks like another host', request('GET //health HTTP/1.1', 'Host: localhost'), 404],
    ['the whole address', request('GET http://localhost/ready HTTP/1.1', 'Host: localhost'), 200],
    ['a path that cannot be decoded', request('GET /%ff%zz HTTP/1.1', 'Host: localhost'), 404],
    [
      'a name that all objects have',
      request('GET /ready/constructor HTTP/1.1', 'Host: localhost'),
      404,
    ],
    ['a name that no page could reach', request('GET /ready HTTP/1.1', 'Host: evil.example'), 403],
    ['no host', request('GET /ready HTTP/1.1'), 400],
    [
      'a header that is too large',
      request('GET /ready HTTP/1.1', 'Host: localhost', `X: ${'x'.repeat(20_000)}`),
      431,
    ],
    ['what is not HTTP', ['\u0000\u0001\u0002', '', ''], 400],
    ['a method that is none', request('BREW /ready HTTP/1.1', 'Host: localhost'), 400],
    [
      'a method that is not for it',
      request('POST /ready HTTP/1.1', 'Host: localhost', 'Content-Length: 0'),
      405,
    ],
    ['a tunnel', request('CONNECT evil.example:80 HTTP/1.1', 'Host: evil.example:80'), undefined],
  ] as const)('%s → answered, and the server lives', async (_, lines, status) => {
    const listener = await listen();
    const peer = new RawPeer(port(listener)).send(...lines);
    await peer.ended;
    if (status !== undefined) expect(Number(/^HTTP\/1\.1 (\d+)/.exec(peer.text)?.[1])).toBe(status);
    if (status !== undefined && ![400, 431].includes(status)) {
      expect(peer.text).toMatch(/x-content-type-options: nosniff/i);
      expect(peer.text).toMatch(/cache-control: no-store/i);
    }
    peer.socket.destroy();
    await expectServing(listener);
  });

  test('halves of requests → others are served meanwhile', async () => {
    const listener = await listen();
    const halves = [
      new RawPeer(port(listener)).send('GET /ready HTTP/1.1', 'Host: local'),
      new RawPeer(port(listener)).send(
        'POST / HTTP/1.1',
        'Host: localhost',
        'Content-Length: 1000',
        '',
        'x',
      ),
      new RawPeer(port(listener)),
    ];
    await expectServing(listener);
    for (const { socket } of halves) socket.resetAndDestroy();
    await expectServing(listener);
  });
});

describe("a response that other code of the application's own server has sent", () => {
  test.each([
    ['while the figures are read', false],
    ['before the gateway handles the request', true],
  ])('%s → the gateway adds nothing to it, and the process goes on', async (_, isBefore) => {
    const escaped: unknown[] = [];
    const escape = (error: unknown): void => void escaped.push(error);
    process.on('unhandledRejection', escape).on('uncaughtException', escape);
    const server = await ownServer('127.0.0.1');
    const gateway = createGateway({ binding: new StoreDouble() });
    const listener = await listen({ server, sites: { here: gateway } });
    server.on('request', (request, response) => {
      if (isBefore) response.writeHead(503).end('too slow');
      expect(listener.handleHttp(request, response)).toBe(true);
      if (!isBefore) response.writeHead(503).end('too slow');
    });
    const answer = await fetch(`${listener.url}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([503, 'too slow']);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    process.off('unhandledRejection', escape).off('uncaughtException', escape);
    expect(escaped).toEqual([]);
  });
});

describe('metrics', () => {
  test('many listeners → the figures of the process are observed once', async () => {
    const enabled = vi.spyOn(
      await import('node:perf_hooks').then(
        ({ PerformanceObserver }) => PerformanceObserver.prototype,
      ),
      'observe',
    );
    const sites = { here: createGateway({ binding: new StoreDouble() }) };
    for (let n = 0; n < 3; n++)
      expect(await new GatewayMetrics(sites).text()).toContain('process_cpu_seconds_total');
    expect(enabled.mock.calls.length).toBeLessThanOrEqual(1);
    await sites.here.close();
  });
});
