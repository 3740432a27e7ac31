/** The HTTP example: axios against a cache and an origin that the test plays. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http, HttpResponse, passthrough } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/correctable/client/client.ts';
import type { Binding } from '../../src/correctable/binding.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { load } from './bundle.ts';

interface Article {
  readonly title: string;
}

/** What docs/listings/http.ts exports. */
interface Http {
  readonly articles: (urls: {
    cache: string;
    origin: string;
  }) => Binding<readonly ['cache', 'origin']>;
  readonly article: (id: string) => Operation<Article>;
  readonly rename: (id: string, title: string) => Operation<Article>;
}

const { articles, article, rename } = await load<Http>('http');
const CACHE = 'http://cache.test/articles/7';
const ORIGIN = 'http://origin.test/articles/7';

const server = setupServer();
const newClient = () =>
  createClient(articles({ cache: 'http://cache.test', origin: 'http://origin.test' }));

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

function titled(title: string, revision: number): Response {
  return HttpResponse.json({ title }, { headers: { 'X-Revision': String(revision) } });
}

async function seen(): Promise<unknown[]> {
  const views: unknown[] = [];
  for await (const { level, value, version } of newClient().invoke(article('7')))
    views.push([level, value.title, version]);
  return views;
}

describe('http: cache and origin', () => {
  test('cached → the cached article, then the fresh one; each side gets the wanted freshness', async () => {
    const requested: (string | null)[] = [];
    let release: () => void = () => {};
    const isCacheAnswered = new Promise<void>((resolve) => (release = resolve));
    server.use(
      http.get(CACHE, ({ request }) => {
        requested.push(request.headers.get('cache-control'));
        return titled('old', 1);
      }),
      http.get(ORIGIN, async ({ request }) => {
        requested.push(request.headers.get('cache-control'));
        await isCacheAnswered;
        return titled('new', 2);
      }),
    );
    const read = newClient().invoke(article('7'));
    const views: unknown[] = [];
    for await (const { level, value, version } of read) {
      views.push([level, value.title, version]);
      release();
    }
    expect(views).toEqual([
      ['cache', 'old', 1],
      ['origin', 'new', 2],
    ]);
    expect(new Set(requested)).toEqual(new Set(['no-cache', 'only-if-cached']));
  });

  test('not cached (504) → a skipped level', async () => {
    server.use(
      http.get(CACHE, () => new HttpResponse(null, { status: 504 })),
      http.get(ORIGIN, () => titled('new', 2)),
    );
    expect(await seen()).toEqual([['origin', 'new', 2]]);
  });

  test('cache down → the origin answers; both down → UNAVAILABLE', async () => {
    server.use(
      http.get(CACHE, () => HttpResponse.error()),
      http.get(ORIGIN, () => titled('new', 2), { once: true }),
    );
    expect(await seen()).toEqual([['origin', 'new', 2]]);
    server.use(http.get(ORIGIN, () => HttpResponse.error()));
    await expect(newClient().invoke(article('7'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  test('write → one request, to the origin', async () => {
    const bodies: unknown[] = [];
    server.use(
      http.patch(ORIGIN, async ({ request }) => {
        bodies.push(await request.json());
        return titled('renamed', 3);
      }),
    );
    expect(await newClient().invoke(rename('7', 'renamed'))).toEqual({ title: 'renamed' });
    expect(bodies).toEqual([{ title: 'renamed' }]);
  });

  test('write without a response → UNKNOWN; refused before it was sent → UNAVAILABLE', async () => {
    const origin = createServer((request) =>
      request.on('end', () => request.socket.destroy()).resume(),
    );
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    server.use(http.patch(`${url}/articles/7`, () => passthrough()));
    const client = createClient(articles({ cache: 'http://cache.test', origin: url }));
    await expect(client.invoke(rename('7', 'renamed'))).rejects.toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
    });
    await new Promise((resolve) => origin.close(resolve));
    await expect(client.invoke(rename('7', 'again'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  test('a read with the access of a write, a key that is another address → nothing is sent there', async () => {
    const client = newClient();
    const asUpdate = client.invoke({ ...article('7'), access: 'write' });
    await expect(asUpdate).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    server.use(http.patch(ORIGIN, () => titled('renamed', 3)));
    expect(
      await client.invoke({ ...rename('7', 'renamed'), key: 'http://elsewhere.test/' }),
    ).toMatchObject({
      title: 'renamed',
    });
  });

  test('cancelled → the request ends at the origin, too', async () => {
    let onAsked: () => void = () => {};
    const isReplyExpected = new Promise<void>((resolve) => (onAsked = resolve));
    let onEnded: () => void = () => {};
    const isEnded = new Promise<void>((resolve) => (onEnded = resolve));
    const origin = createServer((_request, response) => {
      response.once('close', onEnded);
      onAsked();
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void origin.close());
    const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    server.use(
      http.get(CACHE, () => new HttpResponse(null, { status: 504 })),
      http.get(`${url}/articles/7`, () => passthrough()),
    );
    const read = createClient(articles({ cache: 'http://cache.test', origin: url })).invoke(
      article('7'),
    );
    await isReplyExpected;
    read.cancel();
    await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
    await isEnded;
  });
});
