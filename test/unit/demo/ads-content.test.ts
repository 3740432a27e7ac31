/** Getting creatives over HTTP from the real service: batches, bounds, cancellation. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axios from 'axios';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONNECTIONS_MAX, openContent } from '../../../demo/ad-server/content-client.ts';
import {
  contentListener,
  startContentService,
  type ContentService,
} from '../../../demo/ad-server/content-service.ts';
import { contentOver, CREATIVES_PER_REQUEST_MAX } from '../../../demo/ad-server/creative.ts';
import { ODD_TARGETS, statusOf } from '../../support/odd-request-targets.ts';

let service: ContentService;
beforeAll(async () => {
  service = await startContentService(0);
});
afterAll(() => service.close());

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `creative-${n}`);

test.each([0, 1, CREATIVES_PER_REQUEST_MAX, 173])(
  'content: %d names → as many creatives, in order',
  async (count) => {
    const content = contentOver(axios.create({ baseURL: service.url }));
    expect((await content(names(count), undefined)).map(({ name }) => name)).toEqual(names(count));
  },
);

test('content: many names → never more than three requests at a time', async () => {
  const http = axios.create({ baseURL: service.url });
  let [runStepsConcurrently, most] = [0, 0];
  http.interceptors.request.use((config) => {
    most = Math.max(most, (runStepsConcurrently += 1));
    return config;
  });
  http.interceptors.response.use((response) => {
    runStepsConcurrently -= 1;
    return response;
  });
  await contentOver(http)(names(200), undefined);
  expect(most).toBe(3);
});

test('content: more at once than there are connections → all are served, over as many as there are', async () => {
  const server = createServer(contentListener(0)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const client = openContent(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const item = Array.from({ length: 3 * CONNECTIONS_MAX }, (_, n) =>
    client.content([`creative-${n}`], undefined),
  );
  const creatives = await Promise.all(item);
  expect(creatives.map(([first]) => first?.name)).toEqual(names(3 * CONNECTIONS_MAX));
  expect(connections).toBe(CONNECTIONS_MAX);
  client.close();
  await new Promise((resolve) => server.close(resolve));
});

test('content: the signal aborts → the requests in flight end, and no more are made', async () => {
  const slow = await startContentService(60_000);
  const http = axios.create({ baseURL: slow.url });
  let requests = 0;
  const requested = new AbortController();
  http.interceptors.request.use((config) => {
    requests += 1;
    if (requests === 3) setImmediate(() => requested.abort());
    return config;
  });
  await expect(contentOver(http)(names(200), requested.signal)).rejects.toMatchObject({
    code: 'ERR_CANCELED',
  });
  expect(requests).toBe(3);
  await slow.close();
});

test.each(['', '?creatives=', `?creatives=${names(CREATIVES_PER_REQUEST_MAX + 1).join(',')}`])(
  'content service: GET /%s → 400 with an example of a request',
  async (query) => {
    const answer = await axios.get<string>(`${service.url}${query}`, {
      validateStatus: () => true,
    });
    expect(answer.status).toBe(400);
    expect(answer.data).toContain('creatives=a,b');
  },
);

test.each(ODD_TARGETS)('content service: GET %s → 400, and it serves on', async (target) => {
  expect(await statusOf(service.url, target)).toBe(400);
  expect(await statusOf(service.url, '/?creatives=creative-1')).toBe(200);
});
