/**
 * A read whose connection is closed at once is sent again: a proxy may have closed an idle
 * connection just then.
 */
// @rule HV-4
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { http } from '../../../src/bindings/http/index.ts';
import { defineContract } from '../../../src/contract/index.ts';
import { fetchViews } from '../../../src/http/index.ts';
import { createClient } from '../../../src/index.ts';

const shop = defineContract('shop', {
  seats: { access: 'read', args: z.object({}), result: z.int() },
  book: { access: 'write', args: z.object({}), result: z.int() },
});

const reply = (): Response =>
  new Response('{"level":"primary","value":3,"final":true}\n', {
    headers: { 'content-type': 'application/x-ndjson' },
  });

/** Fails the first requests, as `fetch` does if the connection is lost. */
function loseFirst(count: number) {
  let calls = 0;
  return vi.fn<typeof fetch>(async () => {
    calls += 1;
    if (calls > count) return reply();
    throw new TypeError('fetch failed', {
      cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    });
  });
}

const open = (options: { fetch: typeof fetch; readMethod?: 'GET' | 'POST' }) =>
  createClient(http(shop, { url: 'https://shop.test/api', levels: ['primary'], ...options }));

describe('a connection that is closed at once', () => {
  test.each(['GET', 'POST'] as const)('a read by %s → sent again', async (readMethod) => {
    const fetch = loseFirst(1);
    expect(await open({ fetch, readMethod }).invoke(shop.seats({}))).toBe(3);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('each time → UNAVAILABLE after three repetitions', async () => {
    const fetch = loseFirst(10);
    await expect(open({ fetch }).invoke(shop.seats({}))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(fetch).toHaveBeenCalledTimes(4);
  });

  test('a write → UNKNOWN, never sent again', async () => {
    const fetch = loseFirst(1);
    await expect(open({ fetch }).invoke(shop.book({}))).rejects.toMatchObject({ code: 'UNKNOWN' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('a request of fetchViews → sent again, unless its body is used up', async () => {
    const fetch = loseFirst(1);
    const request = fetchViews(['primary']);
    expect(await request('https://shop.test/seats', { fetch })).toBe(3);
    const again = loseFirst(1);
    const body = new Blob(['{}']).stream();
    await expect(
      request('https://shop.test/seats', {
        fetch: again,
        method: 'QUERY',
        body,
        duplex: 'half',
      } as object),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(again).toHaveBeenCalledTimes(1);
  });
});

test('a connection that is closed after a while → not sent again', async () => {
  const now = vi.spyOn(performance, 'now');
  onTestFinished(() => now.mockRestore());
  const fetch = vi.fn<typeof globalThis.fetch>(async () => {
    now.mockReturnValue(performance.now() + 1_001);
    throw new TypeError('fetch failed');
  });
  await expect(open({ fetch }).invoke(shop.seats({}))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  expect(fetch).toHaveBeenCalledTimes(1);
});

test('a caller that has left → not sent again', async () => {
  const controller = new AbortController();
  const fetch = vi.fn<typeof globalThis.fetch>(async () => {
    controller.abort();
    throw new TypeError('fetch failed');
  });
  const read = open({ fetch }).invoke(shop.seats({}), { signal: controller.signal });
  await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
  expect(fetch).toHaveBeenCalledTimes(1);
});

test('a real connection that is reset as the next request arrives → the read succeeds', async () => {
  let requests = 0;
  const server = createServer((socket) => {
    let isFirst = true;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      if (!isFirst) return void socket.resetAndDestroy();
      isFirst = false;
      const body = '{"level":"primary","value":3,"final":true}\n';
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${body.length}\r\nconnection: keep-alive\r\n\r\n${body}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const client = createClient(http(shop, { url, levels: ['primary'] }));
  for (let n = 0; n < 5; n += 1) expect(await client.invoke(shop.seats({}))).toBe(3);
  expect(requests).toBeGreaterThan(5);
});
