/** Requests that no platform sends: nothing was done, and a retry would fail the same way. */
// @rule HV-4
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchViews, type FetchViewsOptions } from '../../../src/http/index.ts';

const LEVELS = ['weak', 'strong'] as const;
const SITE = 'https://shop.test/stock';
const GET_WITH_BODY = { method: 'GET', body: 'x' };
const USED = new Request(SITE, { method: 'POST', body: 'x' });

beforeAll(() => USED.text());

const cases: readonly (readonly [string, string | URL | Request, FetchViewsOptions])[] = [
  ['a relative address', '/stock', {}],
  ['no address', '', {}],
  ['an address without a host', 'http://', {}],
  ['a WebSocket address', 'ws://shop.test/stock', {}],
  ['an unknown scheme', 'gopher://shop.test/stock', {}],
  ['an address with credentials', 'https://ada:secret@shop.test/stock', {}],
  ['a forbidden port', 'http://127.0.0.1:6000/stock', {}],
  ['a header name with a space', SITE, { headers: { 'x shelf': '1' } }],
  ['a header value with a line end', SITE, { headers: { 'x-shelf': '1\n2' } }],
  ['a header value outside of Latin-1', SITE, { headers: { 'x-shelf': '⌘' } }],
  ['a read with a body', SITE, GET_WITH_BODY],
  ['a method that is no word', SITE, { method: 'GET STOCK' }],
  ['a forbidden method', SITE, { method: 'TRACE' }],
  ['a body that was read already', USED, {}],
];

describe.each(['GET', 'PUT'])('%s', (method) => {
  test.each(cases)('%s → INVALID_ARGUMENT, not retryable', async (_name, input, options) => {
    const error: unknown = await fetchViews(LEVELS)(input, {
      ...(!(input instanceof Request) && { method }),
      ...options,
    }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENT',
      retryable: false,
      message: expect.stringContaining('Nothing was sent.') as string,
    });
    expect(String(error)).not.toContain('secret');
  });
});

describe('requests that may have been sent', () => {
  const server = createServer((request) => request.socket.destroy());
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => server.close());

  test('a connection that breaks → UNKNOWN for an update, UNAVAILABLE for a read', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(fetchViews(LEVELS)(url, { method: 'PUT', body: 'x' })).rejects.toMatchObject({
      code: 'UNKNOWN',
    });
    await expect(fetchViews(LEVELS)(url)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  test('a fetch of the application that takes relative addresses, and fails → as any other', async () => {
    const broken = (() => Promise.reject(new TypeError('fetch failed'))) as typeof fetch;
    const error = fetchViews(LEVELS)('/stock', { method: 'PUT', fetch: broken });
    await expect(error).rejects.toMatchObject({ code: 'UNKNOWN' });
  });
});
