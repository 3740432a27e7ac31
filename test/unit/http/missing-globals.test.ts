/** Platforms without streams or decoders, such as the DOM of Jest. */
import { afterEach, expect, test, vi } from 'vitest';
import { fetchViews } from '../../../src/http/index.ts';

const LINE = '{"level":"primary","value":3,"final":true}\n';
const headers = { 'content-type': 'application/x-ndjson' };
const request = fetchViews(['primary']);

afterEach(() => void vi.unstubAllGlobals());

test('without ReadableStream, a request that fails is sent again', async () => {
  const reply = new Response(LINE, { headers });
  vi.stubGlobal('ReadableStream', undefined);
  const fetch = vi
    .fn<typeof globalThis.fetch>()
    .mockRejectedValueOnce(new TypeError('Network request failed'))
    .mockResolvedValueOnce(reply);
  expect(await request('https://shop.test/seats', { fetch })).toBe(3);
});

test('without TextDecoder, a reply is read as a whole', async () => {
  const reply = new Response(LINE, { headers });
  vi.stubGlobal('TextDecoder', undefined);
  expect(await request('https://shop.test/seats', { fetch: async () => reply })).toBe(3);
});

test('a body that is another kind of stream is read as a whole', async () => {
  const reply = Object.assign(Object.create(null), {
    body: {},
    ok: true,
    status: 200,
    headers: new Headers(headers),
    text: async () => LINE,
  }) as Response;
  expect(await request('https://shop.test/seats', { fetch: async () => reply })).toBe(3);
});
