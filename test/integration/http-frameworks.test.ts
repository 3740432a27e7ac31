/**
 * Views over real servers of each framework: early views arrive early, a client that leaves
 * cancels, errors have a status.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve as serveHono } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { fetchViews, respondWithViews, sendViews } from '../../src/http/index.ts';
import { correctable, CorrectableError, getSnapshot, type Correctable } from '../../src/index.ts';

const LEVELS = ['weak', 'strong'] as const;
type Two = typeof LEVELS;

const create = () => correctable(LEVELS).withSink<string>({ timeoutMs: 10_000 });
type Shop = ReturnType<typeof create>;

/** A request whose body the server has read before its handler replies. */
const POST = {
  method: 'POST',
  body: '{"count":1}',
  headers: { 'content-type': 'application/json' },
};

/** A server whose one route replies with the views of `shop`, to every method. */
interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function toRunning(server: Server): Running {
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<unknown> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/stock`, close };
}

const listen = (server: Server): Promise<Running> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(toRunning(server))));

const frameworks: readonly (readonly [string, (shop: Shop) => Promise<Running>])[] = [
  [
    'node:http',
    (shop) =>
      listen(
        createServer((request, response) => {
          void text(request).then(() => sendViews(response, shop.correctable, { request }));
        }),
      ),
  ],
  [
    'Express',
    (shop) => {
      const app = express();
      app.use(express.json());
      app.all('/stock', (request, response) => sendViews(response, shop.correctable, { request }));
      return listen(createServer(app));
    },
  ],
  [
    'Fastify, with a Response',
    async (shop) => {
      const app = fastify({ forceCloseConnections: true });
      app.all('/stock', (request) => respondWithViews(shop.correctable, { request }));
      return {
        url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/stock`,
        close: () => app.close(),
      };
    },
  ],
  [
    'Fastify, with reply.raw',
    async (shop) => {
      const app = fastify({ forceCloseConnections: true });
      app.all('/stock', async (request, reply) => {
        reply.hijack();
        await sendViews(reply.raw, shop.correctable, { request });
      });
      return {
        url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/stock`,
        close: () => app.close(),
      };
    },
  ],
  [
    'Hono',
    (shop) => {
      const app = new Hono();
      app.all('/stock', async (c) => {
        if (c.req.method === 'POST') await c.req.json();
        return respondWithViews(shop.correctable, { request: c.req.raw });
      });
      return new Promise((resolve) => {
        const server = serveHono({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () =>
          resolve(toRunning(server as Server)),
        );
      });
    },
  ],
];

describe.each(frameworks)('%s', (_name, start) => {
  async function open(): Promise<
    Shop & {
      readonly request: (init?: typeof POST) => Correctable<string, Two>;
      readonly url: string;
    }
  > {
    const shop = create();
    const { url, close } = await start(shop);
    closing.push(close);
    return { ...shop, url, request: (init) => fetchViews(LEVELS)<string>(url, init) };
  }

  test('the early view arrives while the final one is on its way', async () => {
    const { sink, request } = await open();
    const views = request();
    sink.view('old', 'weak');
    expect(await views.when('weak')).toMatchObject({ value: 'old', final: false });
    sink.view('new', 'strong');
    expect(await views).toBe('new');
  });

  test('a request with a body → canceled only when the client leaves', async () => {
    const { correctable: served, sink, request } = await open();
    const views = request(POST);
    sink.view('old', 'weak');
    await views.when('weak');
    // The server has replied: it has read the body by now, and seen the end of the request.
    expect(getSnapshot(served).state).toBe('pending');
    views.cancel();
    await expect(served).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(views).rejects.toMatchObject({ code: 'UNKNOWN' });
  });

  test('the client leaves after a view → the operation is canceled', async () => {
    const { correctable: served, sink, request } = await open();
    const views = request();
    sink.view('old', 'weak');
    await views.when('weak');
    views.cancel();
    await expect(served).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('HEAD → the headers of the first view, and the operation is canceled', async () => {
    const { correctable: served, sink, url } = await open();
    sink.view('old', 'weak');
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson',
    ]);
    await expect(served).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('the operation fails before a view → the status of its code', async () => {
    const { correctable: served, sink, url, request } = await open();
    served.catch(() => {});
    sink.fail(new CorrectableError('FORBIDDEN', 'not yours'));
    expect((await fetch(url)).status).toBe(403);
    await expect(request()).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'not yours' });
  });

  test('a value larger than the buffers of a connection → arrives whole', async () => {
    const { sink, request } = await open();
    const large = 'x'.repeat(3_000_000);
    sink.view(large, 'weak');
    sink.view(`${large}y`, 'strong');
    expect((await request()).length).toBe(3_000_001);
  });

  test('the server is killed after a view → UNAVAILABLE, with the last view', async () => {
    const { sink, request } = await open();
    const views = request();
    sink.view('old', 'weak');
    await views.when('weak');
    await Promise.all(closing.splice(0).map((close) => close()));
    await expect(views).rejects.toMatchObject({ code: 'UNAVAILABLE', lastView: { value: 'old' } });
  });
});

describe('disconnects before the first view', () => {
  const cases = frameworks.flatMap(([name, start]) => [
    { name, method: 'GET', init: {}, start },
    { name, method: 'POST', init: POST, start },
  ]);

  test.each(cases)('$name, $method → canceled', async ({ init, start }) => {
    const shop = create();
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const { url, close } = await start({
      ...shop,
      get correctable() {
        arrive();
        return shop.correctable;
      },
    });
    closing.push(close);
    const leaving = new AbortController();
    const reply = fetch(url, { ...init, signal: leaving.signal }).catch(() => 'left');
    await arrived;
    leaving.abort();
    expect(await reply).toBe('left');
    await expect(shop.correctable).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
